/** The operations about plans and jobs: a wish of several hops for one, a verb for many. */
import type { Caller } from '../../auth/caller.ts';
import type {
  DryRun,
  Job,
  JobResult,
  JobResultsQuery,
  JobsQuery,
  Plan,
  StartJobInput,
  WalkInput,
} from '../../contract/schema/jobs.ts';
import type { Instance } from '../../contract/schema.ts';
import type { State } from '../../lifecycle/states.ts';

export interface JobsOperations {
  /** The hops to a state and what they cost. Changes nothing, wakes nothing. */
  plan(caller: Caller, id: string, query: { to: State }): Promise<Plan>;
  /** Walks there, hop by hop. Throws as the hops do; the sandbox stays where it came to. */
  walk(caller: Caller, id: string, input: WalkInput): Promise<Instance>;
  /** What a job would do. Changes nothing. */
  startJob(caller: Caller, input: StartJobInput): Promise<{ dryRun: DryRun } | { id: string }>;
  listJobs(caller: Caller, query: JobsQuery): Promise<{ items: Job[]; next: string | null }>;
  getJob(caller: Caller, id: string): Promise<Job>;
  /** Ends it: what is under way ends, nothing more begins. A job that has ended stays as it is. */
  cancelJob(caller: Caller, id: string): Promise<Job>;
  jobResults(caller: Caller, id: string, query: JobResultsQuery): Promise<{ items: JobResult[]; next: string | null }>;
}
