// SPDX-License-Identifier: GPL-2.0

#if defined(CONFIG_SUNRPC_RUST) && IS_ENABLED(CONFIG_SUNRPC_XPRT_RDMA)
#include <linux/bvec.h>
#include <linux/list.h>
#include <linux/percpu_counter.h>
#include <rdma/ib_verbs.h>

__rust_helper void rust_helper_bvec_set_virt(struct bio_vec *bv, void *vaddr,
					     unsigned int len)
{
	bvec_set_virt(bv, vaddr, len);
}

__rust_helper void *rust_helper_bvec_virt(struct bio_vec *bvec)
{
	return bvec_virt(bvec);
}

__rust_helper void rust_helper_list_add(struct list_head *new,
					struct list_head *head)
{
	list_add(new, head);
}

__rust_helper void rust_helper_percpu_counter_inc(struct percpu_counter *fbc)
{
	percpu_counter_inc(fbc);
}

__rust_helper bool rust_helper_ib_uses_virt_dma(struct ib_device *dev)
{
	return ib_uses_virt_dma(dev);
}

__rust_helper unsigned int
rust_helper_ib_dma_max_seg_size(struct ib_device *dev)
{
	return ib_dma_max_seg_size(dev);
}

__rust_helper u64 rust_helper_ib_dma_map_bvec(struct ib_device *dev,
					      struct bio_vec *bvec,
					      enum dma_data_direction direction)
{
	return ib_dma_map_bvec(dev, bvec, direction);
}

__rust_helper int rust_helper_ib_dma_mapping_error(struct ib_device *dev,
						   u64 dma_addr)
{
	return ib_dma_mapping_error(dev, dma_addr);
}
#endif /* CONFIG_SUNRPC_RUST && CONFIG_SUNRPC_XPRT_RDMA */
