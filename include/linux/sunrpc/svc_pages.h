/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describe the pages of an RPC transaction with multipage bio_vecs.
 */

#ifndef SUNRPC_SVC_PAGES_H
#define SUNRPC_SVC_PAGES_H

#include <linux/bvec.h>

struct page;

/*
 * The functions below come in C (net/sunrpc/svc_pages.c) and in Rust
 * (net/sunrpc/rust/svc_pages.rs). CONFIG_SUNRPC_RUST selects
 * which of the two is built.
 */

/**
 * svc_pages_to_bvec - build one bio_vec from physically contiguous pages
 * @bv: bio_vec to initialize, or NULL to only measure the next extent
 * @pages: first page-array slot in the range
 * @nr_pages: number of page-array slots available from @pages
 * @offset: byte offset in @pages[0], less than PAGE_SIZE
 * @len: maximum byte count to describe, not zero
 * @max_bvec_len: maximum byte count in one bio_vec, not zero
 *
 * The extent ends at a missing page, and at a page that the block layer
 * would not merge with its predecessor. When @max_bvec_len ends it, the
 * end lies on a page boundary, unless @max_bvec_len is less than a page.
 *
 * Return: the number of bytes described, or zero if an argument is out
 * of its range or @pages[0] is missing.
 */
unsigned int svc_pages_to_bvec(struct bio_vec *bv, struct page *const *pages,
			       unsigned int nr_pages, unsigned int offset,
			       unsigned int len, unsigned int max_bvec_len);

/**
 * svc_pages_to_bvecs - build bio_vecs for a range of a page array
 * @bvecs: bio_vec array to populate, or NULL to only count the entries
 * @pages: first page-array slot in the range
 * @nr_pages: number of page-array slots available from @pages
 * @offset: byte offset in @pages[0], less than PAGE_SIZE
 * @len: byte count to describe, not zero
 * @max_bvec_len: maximum byte count in one bio_vec, not zero
 *
 * If @bvecs is not NULL, it must have room for all entries. The same call
 * with @bvecs NULL counts them. There is at most one for each of @nr_pages
 * slots, unless @max_bvec_len is less than a page.
 *
 * Return: the number of bio_vecs populated or required, or zero if the
 * whole range cannot be described from the given slots.
 */
unsigned int svc_pages_to_bvecs(struct bio_vec *bvecs,
				struct page *const *pages,
				unsigned int nr_pages, unsigned int offset,
				unsigned int len, unsigned int max_bvec_len);

#endif /* SUNRPC_SVC_PAGES_H */
