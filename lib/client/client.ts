/**
 * The client of the HTTP contract: one method for every operation of the route table, typed by the contract's own
 * schemas, and helpers for streams. Imports nothing at run time but the files beside it: safe for the
 * browser, and built to plain JavaScript for other projects (`npm run build:client`).
 */
import type { Volume } from '../vfs/volumes.ts';
import { parametersOf } from './address.ts';
import type { CallOptions } from './call.ts';
import { CALLS, type Calls } from './calls.ts';
import { type ExecBytesAnswer, type ExecBytesInput, execBytes } from './exec.ts';
import { type ExecEvent, type ExecStreamInput, execStream } from './exec-stream.ts';
import { followEvents } from './follow.ts';
import { type FollowLogsQuery, followLogs, type LogEvent } from './follow-logs.ts';
import { type FollowRunOptions, followRun, type RunEvent } from './follow-run.ts';
import { type Page, pagesOf } from './pages.ts';
import type { FollowOptions } from './reconnecting-stream.ts';
import { type ClientOptions, createTransport, type Transport } from './transport.ts';
import type {
  ComponentCallAnswer,
  ComponentCallInput,
  DryRun,
  Event,
  ForgettingStarted,
  StartJobInput,
  StreamQuery,
  TenantForgetPlan,
  WorkflowCallAnswer,
  WorkflowCallInput,
} from './types.ts';
import { type WorkbookEvent, workbookStream } from './workbook-stream.ts';

export type { ErrorCode } from '../base/errors.ts';
export type { Volume } from '../vfs/volumes.ts';
export { Download } from './bytes.ts';
export type { CallOptions, Progress, Upload, Written } from './call.ts';
export { ApiError, type ClientCode } from './error.ts';
export type { ExecBytesAnswer, ExecBytesInput } from './exec.ts';
export type { ExecEvent, ExecStreamInput } from './exec-stream.ts';
export type { FollowLogsQuery, LogEvent } from './follow-logs.ts';
export type { FollowRunOptions, RunEvent } from './follow-run.ts';
export { MAX_STDIN_BYTES } from './limits.ts';
export type { Page, Pages } from './pages.ts';
export type { FollowOptions } from './reconnecting-stream.ts';
export { type ServerSent, serverSent } from './server-sent.ts';
export type { ClientOptions } from './transport.ts';
export type * from './types.ts';
export { addressIn, DEFAULT_URL, type Whereabouts, whereaboutsIn } from './whereabouts.ts';
export type { WorkbookEvent } from './workbook-stream.ts';

/** A file without its bytes. */
export interface FileStat {
  size: number;
  etag: string | null;
  contentType: string;
  /** Epoch seconds, or null when the server does not send it. */
  mtime: number | null;
}

/** Every operation by its name in the OpenAPI document, and the streams. */
export interface WinterdockClient extends Omit<Calls, 'streamEvents' | 'startJob' | 'forgetTenant'> {
  /** The server's address, without a trailing slash. */
  readonly url: string;
  /**
   * Runs a script to its end, with bytes in and out: `stdin` may be a Uint8Array, both outputs are. Never retried.
   */
  execBytes(id: string, input: ExecBytesInput, options?: CallOptions): Promise<ExecBytesAnswer>;
  /**
   * Runs a script and yields `woke`, `stdout`, `stderr` and at last `exit` as they come; output has its `bytes`, and
   * its `text` when it is one. `stdin` may be a Uint8Array. Leaving the loop, or aborting the signal, stops the script.
   * Never retried.
   */
  execStream(id: string, input: ExecStreamInput, options?: CallOptions): AsyncGenerator<ExecEvent, void, void>;
  /**
   * Calls a component and yields `woke`, `running`, `log`, `component` and at last `result` as they come. Leaving the
   * loop, or aborting the signal, stops it. Never retried.
   */
  callComponentStream(
    id: string,
    component: string,
    input?: ComponentCallInput,
    options?: CallOptions,
  ): AsyncGenerator<WorkbookEvent<ComponentCallAnswer>, void, void>;
  /** As `callComponentStream`, for a whole workflow. */
  callWorkflowStream(
    id: string,
    input?: WorkflowCallInput,
    options?: CallOptions,
  ): AsyncGenerator<WorkbookEvent<WorkflowCallAnswer>, void, void>;
  /**
   * Yields the ledger as it grows, from `last_event_id` on or else from now, and reconnects without a gap or a
   * repeat. Ends only by leaving the loop, by the signal (throws its reason), or by a refusal.
   */
  streamEvents(query?: StreamQuery, options?: FollowOptions): AsyncGenerator<Event, void, void>;
  /**
   * Yields the output of a run from `offset` on, and at last `exit`; reconnects at the next byte. Leaving the loop does
   * not stop the run.
   */
  followRun(id: string, run: string, options?: FollowRunOptions): AsyncGenerator<RunEvent, void, void>;
  /**
   * Yields the newest lines that a sandbox printed, the oldest of them first, then those that it prints, and a `gap`
   * where some are missing; reconnects after the last line. Ends only by leaving the loop, by the signal (throws its
   * reason), or by a refusal.
   */
  followInstanceLogs(
    id: string,
    query?: FollowLogsQuery,
    options?: FollowOptions,
  ): AsyncGenerator<LogEvent, void, void>;
  /** As `followInstanceLogs`, of all sandboxes of a tenant together. */
  followTenantLogs(
    tenant: string,
    query?: FollowLogsQuery,
    options?: FollowOptions,
  ): AsyncGenerator<LogEvent, void, void>;
  /**
   * Does a verb to many instances: to those named, or to everything that matches now. With `dry_run` it only says what
   * it would do and whom it would pass over, and why.
   */
  startJob(input: StartJobInput & { dry_run: true }, options?: CallOptions): Promise<DryRun>;
  startJob(input: StartJobInput & { dry_run?: false }, options?: CallOptions): Promise<{ id: string }>;
  /**
   * Forgets a tenant for good, when `confirm` is its name; a job does it. With `dry_run` it only says what would go,
   * and what would still hold it afterwards.
   */
  forgetTenant(tenant: string, input: { dry_run: true }, options?: CallOptions): Promise<TenantForgetPlan>;
  forgetTenant(
    tenant: string,
    input: { confirm: string; dry_run?: false },
    options?: CallOptions,
  ): Promise<ForgettingStarted>;
  /** Looks at a file without its bytes. Throws `not_found` when there is none. */
  statFile(id: string, volume: Volume, path: string, options?: CallOptions): Promise<FileStat>;
}

type OwnMethod =
  | 'url'
  | 'execBytes'
  | 'execStream'
  | 'callComponentStream'
  | 'callWorkflowStream'
  | 'streamEvents'
  | 'followRun'
  | 'followInstanceLogs'
  | 'followTenantLogs'
  | 'statFile';

/**
 * Makes a client. Methods take the path's parameters in their order, then the body, then the query, each if the
 * operation has it, then options. Throws a TypeError when the address is none; calls reject with ApiError.
 */
export function createClient(options: ClientOptions = {}): WinterdockClient {
  const transport = createTransport(options);
  const methods = Object.entries(CALLS).map(([name, line]) => [name, methodOf(transport, line)]);
  const own: Pick<WinterdockClient, OwnMethod> = {
    url: transport.url,
    execBytes: (id, input, callOptions = {}) => execBytes(transport, CALLS.execInInstance, id, input, callOptions),
    execStream: (id, input, callOptions = {}) => execStream(transport, CALLS.execInInstance, id, input, callOptions),
    callComponentStream: (id, component, input = {}, callOptions = {}) =>
      workbookStream(transport, CALLS.callComponent, [id, component], input, callOptions),
    callWorkflowStream: (id, input = {}, callOptions = {}) =>
      workbookStream(transport, CALLS.callWorkflow, [id], input, callOptions),
    streamEvents: (query = {}, followOptions = {}) =>
      followEvents(transport, { stream: CALLS.streamEvents, list: CALLS.listEvents }, query, followOptions),
    followRun: (id, run, followOptions = {}) => followRun(transport, CALLS.getRunOutput, [id, run], followOptions),
    followInstanceLogs: (id, query = {}, followOptions = {}) =>
      followLogs(transport, CALLS.listInstanceLogs, id, query, followOptions),
    followTenantLogs: (tenant, query = {}, followOptions = {}) =>
      followLogs(transport, CALLS.listTenantLogs, tenant, query, followOptions),
    async statFile(id, volume, path, callOptions = {}) {
      const line = { ...CALLS.getFile, method: 'HEAD' } as const;
      const call = { line, parameters: [id, volume, path], options: callOptions };
      const { headers } = await transport.send(call).catch(async (refusal) => {
        // The answer to HEAD has no body: a request for the first byte is refused in words.
        const first = { ...callOptions, range: { start: 0, end: 0 } };
        if (refusal.status > 0) await transport.answer({ ...call, line: CALLS.getFile, options: first });
        throw refusal;
      });
      const written = Date.parse(headers.get('last-modified') ?? '');
      return {
        size: Number(headers.get('content-length')),
        etag: headers.get('etag'),
        contentType: headers.get('content-type') ?? 'application/octet-stream',
        mtime: Number.isNaN(written) ? null : written / 1000,
      };
    },
  };
  return Object.assign(Object.fromEntries(methods), own);
}

/** One operation as a function: parameters, body, query, options, in this order. */
function methodOf(transport: Transport, line: (typeof CALLS)[keyof typeof CALLS]) {
  const count = parametersOf(line.path).length;
  return (...given: unknown[]) => {
    const parameters = given.slice(0, count).map(String);
    const rest = given.slice(count);
    const body = line.body === null ? undefined : rest.shift();
    const query = line.query ? (rest.shift() as object | undefined) : undefined;
    const options = (rest.shift() ?? {}) as CallOptions;
    if (line.answer !== 'page') return transport.answer({ line, parameters, body, query, options });
    return pagesOf(
      (cursor) =>
        transport.answer({
          line,
          parameters,
          body,
          query: cursor === null ? query : { ...query, cursor },
          options,
        }) as Promise<Page<unknown>>,
    );
  };
}
