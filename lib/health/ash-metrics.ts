/** Wakes under the names of Ash, for dashboards made for it. */
import { Counter, type Registry } from 'prom-client';
import type { Source } from '../lifecycle/words.ts';

/** Ash knows three sources: this machine, an object store, and what never ran. */
export type AshSource = 'local' | 'cloud' | 'fresh';
export const ASH_SOURCE: Readonly<Record<Source, AshSource>> = {
  local: 'local',
  cold: 'local',
  archive: 'local',
  cloud: 'cloud',
  snapshot: 'fresh',
  blueprint: 'fresh',
  fresh: 'fresh',
};

/** The counters of wakes under the names of Ash. */
export function ashCounters(registers: Registry[]) {
  return {
    warm: new Counter({
      name: 'ash_resume_warm_total',
      help: 'As winterdock_resume_total of the path warm.',
      registers,
    }),
    cold: new Counter({
      name: 'ash_resume_cold_total',
      help: 'As winterdock_resume_cold_total, by the sources of Ash.',
      labelNames: ['source'],
      registers,
    }),
  };
}
