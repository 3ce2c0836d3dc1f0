/** The health of the server as clients of Ash read it: numbers, and nothing of any tenant. Open. */
import { json } from '../answer.ts';
import { sessionRoute } from './session-route.ts';

export const HEALTH_ROUTE = sessionRoute({
  method: 'GET',
  path: '/health',
  root: true,
  access: 'open',
  operation: null,
  async handle({ services, caller }) {
    const { instances, processes, callsRunning, resumes } = await services.operations.serverHealth(caller);
    const { deleted: _ended, ...kept } = instances;
    const { active, claimed, ready, startedAhead, most } = processes;
    const running = Math.min(callsRunning, active);
    const { local, cloud, fresh } = resumes.cold;
    const byState = {
      cold: Math.max(0, Object.values(kept).reduce((sum, count) => sum + count, 0) - active - claimed),
      warming: claimed,
      warm: ready,
      waiting: active - running,
      running,
    };
    return json(200, {
      status: 'ok',
      activeSessions: instances.active,
      activeSandboxes: active,
      uptime: Math.floor(process.uptime()),
      pool: {
        total: Object.values(byState).reduce((sum, count) => sum + count, 0),
        ...byState,
        maxCapacity: most,
        resumeWarmHits: resumes.warm,
        resumeColdHits: local + cloud + fresh,
        resumeColdLocalHits: local,
        resumeColdCloudHits: cloud,
        resumeColdFreshHits: fresh,
        preWarmHits: startedAhead,
      },
    });
  },
});
