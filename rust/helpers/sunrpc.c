// SPDX-License-Identifier: GPL-2.0

#ifdef CONFIG_SUNRPC_RUST
#include <linux/mm.h>
#include <xen/xen.h>

__rust_helper unsigned long rust_helper_page_to_pfn(const struct page *page)
{
	return page_to_pfn(page);
}

__rust_helper bool
rust_helper_zone_device_pages_have_same_pgmap(const struct page *a,
					      const struct page *b)
{
	return zone_device_pages_have_same_pgmap(a, b);
}

#ifdef CONFIG_XEN
__rust_helper bool rust_helper_xen_domain(void)
{
	return xen_domain();
}
#endif
#endif /* CONFIG_SUNRPC_RUST */
