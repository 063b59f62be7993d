// SPDX-License-Identifier: GPL-2.0

#ifdef CONFIG_SUNRPC_RUST
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/page_ref.h>

__rust_helper struct page *
rust_helper_alloc_pages_node(int nid, gfp_t gfp_mask, unsigned int order)
{
	return alloc_pages_node(nid, gfp_mask, order);
}

__rust_helper void rust_helper_put_page(struct page *page)
{
	put_page(page);
}

__rust_helper void rust_helper_page_ref_add(struct page *page, int nr)
{
	page_ref_add(page, nr);
}

__rust_helper void rust_helper_page_ref_sub(struct page *page, int nr)
{
	page_ref_sub(page, nr);
}

__rust_helper bool rust_helper_any_page_has_failed(void)
{
#ifdef CONFIG_MEMORY_FAILURE
	return atomic_long_read(&num_poisoned_pages) > 0;
#else
	return false;
#endif
}

__rust_helper bool rust_helper_PageHWPoison(const struct page *page)
{
	return PageHWPoison(page);
}

__rust_helper int rust_helper_num_online_nodes(void)
{
	return num_online_nodes();
}

__rust_helper size_t rust_helper_folio_size(const struct folio *folio)
{
	return folio_size(folio);
}

__rust_helper void rust_helper_folio_zero_range(struct folio *folio,
						size_t start, size_t length)
{
	folio_zero_range(folio, start, length);
}

__rust_helper bool rust_helper_want_init_on_alloc(gfp_t flags)
{
	return want_init_on_alloc(flags);
}

__rust_helper bool rust_helper_want_init_on_free(void)
{
	return want_init_on_free();
}

__rust_helper unsigned long rust_helper_totalram_pages(void)
{
	return totalram_pages();
}
#endif /* CONFIG_SUNRPC_RUST */
