// SPDX-License-Identifier: GPL-2.0-only
/*
 * The granules of RPC service pools and threads.
 */

#include <linux/sunrpc/debug.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_granules.h>

/**
 * svc_rqst_init_granules - Give a thread a share in the granules of its pool
 * @rqstp: thread that is about to start, with its server and pool set
 * @node: NUMA node of the pool, or NUMA_NO_NODE
 *
 * Payloads are worth it, thus the services that have pools get them. Without
 * granules, all pages come from the page allocator. The caller serializes
 * the threads of a pool.
 */
void svc_rqst_init_granules(struct svc_rqst *rqstp, int node)
{
	struct svc_serv *serv = rqstp->rq_server;
	struct svc_pool *pool = rqstp->rq_pool;

	if (!serv->sv_is_pooled)
		return;
	if (!pool->sp_granules) {
		pool->sp_granules = svc_granules_pool_create(node);
		if (!pool->sp_granules)
			return;
		svc_pool_debugfs_register(serv, pool);
	}
	rqstp->rq_granules = svc_granules_create(pool->sp_granules,
						 rqstp->rq_maxpages);
}

/**
 * svc_rqst_exit_granules - Give the granules of a thread back to its pool
 * @rqstp: thread that has ended
 */
void svc_rqst_exit_granules(struct svc_rqst *rqstp)
{
	svc_granules_destroy(rqstp->rq_granules);
}

/**
 * svc_pool_exit_granules - Free the granules of a pool
 * @pool: pool without threads
 */
void svc_pool_exit_granules(struct svc_pool *pool)
{
	svc_pool_debugfs_unregister(pool);
	svc_granules_pool_destroy(pool->sp_granules);
}

/**
 * svc_rqst_fill_call - Fill rq_pages with granules
 * @rqstp: thread
 * @used: number of entries, from the first one on, that may be empty
 *
 * Return: how many of these are filled for certain, from the first one on.
 */
unsigned long svc_rqst_fill_call(struct svc_rqst *rqstp, unsigned long used)
{
	return svc_granules_fill_call(rqstp->rq_granules, rqstp->rq_pages,
				      rqstp->rq_maxpages, used);
}

/**
 * svc_rqst_fill_reply - Fill rq_respages with granules
 * @rqstp: thread
 * @used: number of entries, from the first one on, that may be empty
 *
 * Return: how many of these are filled for certain, from the first one on.
 */
unsigned long svc_rqst_fill_reply(struct svc_rqst *rqstp, unsigned long used)
{
	return svc_granules_fill_reply(rqstp->rq_granules, rqstp->rq_respages,
				       rqstp->rq_maxpages, used);
}

/**
 * svc_rqst_exchange_call - Have rq_pages filled anew before the next Call
 * @rqstp: thread
 * @used: number of entries, from the first one on, with pages of another thread
 *
 * Otherwise these would stay, and the thread's own granules, which the
 * entries no longer refer to, could not be used.
 */
void svc_rqst_exchange_call(struct svc_rqst *rqstp, unsigned long used)
{
	rqstp->rq_pages_nfree = used;
}
