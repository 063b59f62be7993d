// SPDX-License-Identifier: GPL-2.0
/*
 * Describe the pages of an RPC transaction with multipage bio_vecs.
 *
 * The C counterpart of rust/kernel/sunrpc/extent.rs.
 */

#include <linux/bug.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sunrpc/svc_pages.h>
#include <xen/xen.h>

/* Pages that are contiguous to Linux may lie apart in machine memory. */
static bool svc_page_precedes_on_bus(struct page *page,
				     const struct page *next)
{
	struct bio_vec bv;

	if (!xen_domain())
		return true;
	if (!IS_ENABLED(CONFIG_BLOCK))
		return false;
	bvec_set_page(&bv, page, PAGE_SIZE, 0);
	return xen_biovec_phys_mergeable(&bv, next);
}

/* With a virtual memory map, a PFN is the index of the struct page. */
static bool svc_pfn_precedes(const struct page *page, const struct page *next)
{
	return IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP) ||
	       page_to_pfn(next) == page_to_pfn(page) + 1;
}

/* The merge rule: may one bio_vec run on from @page to @next? */
static bool svc_page_precedes(struct page *page, const struct page *next)
{
	if (IS_ENABLED(CONFIG_KMSAN))
		return false;
	return next == page + 1 &&
	       svc_pfn_precedes(page, next) &&
	       zone_device_pages_have_same_pgmap(page, next) &&
	       svc_page_precedes_on_bus(page, next);
}

/* How many bytes one bio_vec may describe, were all pages contiguous. */
static unsigned int svc_bvec_limit(unsigned int offset, unsigned int len,
				   unsigned int max_bvec_len)
{
	if (len <= max_bvec_len)
		return len;
	if (max_bvec_len < PAGE_SIZE)
		return max_bvec_len;
	return round_down((u64)offset + max_bvec_len, PAGE_SIZE) - offset;
}

unsigned int svc_pages_to_bvec(struct bio_vec *bv, struct page *const *pages,
			       unsigned int nr_pages, unsigned int offset,
			       unsigned int len, unsigned int max_bvec_len)
{
	unsigned int limit, span, used = 1;

	if (WARN_ON_ONCE(!nr_pages || offset >= PAGE_SIZE || !len ||
			 !max_bvec_len || !pages[0]))
		return 0;

	limit = svc_bvec_limit(offset, len, max_bvec_len);
	span = min_t(u64, nr_pages,
		     ((u64)offset + limit + PAGE_SIZE - 1) >> PAGE_SHIFT);
	while (used < span && svc_page_precedes(pages[used - 1], pages[used]))
		used++;
	limit = min_t(u64, limit, ((u64)used << PAGE_SHIFT) - offset);

	if (bv)
		bvec_set_page(bv, pages[0], limit, offset);
	return limit;
}

unsigned int svc_pages_to_bvecs(struct bio_vec *bvecs,
				struct page *const *pages,
				unsigned int nr_pages, unsigned int offset,
				unsigned int len, unsigned int max_bvec_len)
{
	unsigned int bytes, advanced, nents = 0;

	do {
		bytes = svc_pages_to_bvec(bvecs ? bvecs + nents : NULL, pages,
					  nr_pages, offset, len, max_bvec_len);
		if (!bytes)
			return 0;
		advanced = ((u64)offset + bytes) >> PAGE_SHIFT;
		offset = offset_in_page((u64)offset + bytes);
		pages += advanced;
		nr_pages -= advanced;
		len -= bytes;
		nents++;
	} while (len && nr_pages && pages[0]);

	return len ? 0 : nents;
}
