/**
 * The shape of one line of the route table, and `customRoute`, which brings a handler of its own: for streams, bytes,
 * ranges and conditions. All other routes are derived from their operation (operation-route.ts). Knows nothing of
 * sockets.
 */
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type { WallStates } from '../base/walls.ts';
import type { Metrics } from '../health/metrics.ts';
import type { EventHub } from '../ledger/event-hub.ts';
import type { Guard } from '../operations/guard.ts';
import type { Operations } from '../operations/operations.ts';
import type { UploadStream } from '../operations/streams.ts';
import type { Answer } from './answer.ts';
import type { ChangeFeed } from './change-feed.ts';

/** What handlers work with. */
export interface Services {
  operations: Operations;
  /** Asks whether a role may call an operation, for routes that learn it from the body. */
  admit: Guard['admit'];
  events: EventHub;
  changes: ChangeFeed;
  metrics: Metrics;
  /** Resolves when the server can do its work; throws `storage_unavailable` when it cannot. */
  ready(): Promise<void>;
  /** What it cannot reach meanwhile, a sentence each; empty when it lacks nothing. */
  degraded(): string[];
  /** The address that the settings give the server, or null. */
  publicUrl: string | null;
  /** `states`: whether each wall stands around the processes of sandboxes. */
  walls: { states: WallStates };
  /** The OpenAPI document as JSON text. */
  openapi(): string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `key`: an admin key or a session; `open`: anyone; `metrics`: like `key` unless the settings open it. */
type Access = 'key' | 'open' | 'metrics';

export interface RouteContext<P = unknown, Q = unknown, B = unknown> {
  services: Services;
  /** Who asks. On an open route nobody in particular. */
  caller: Caller;
  params: P;
  query: Q;
  /**
   * The parsed JSON body, the bytes of a route that takes bytes, or the upload, not read yet, of one that takes a
   * stream.
   */
  body: B;
  /** True for HEAD: the answer's body will not be sent. */
  head: boolean;
  /** Path as it was sent and query as it was sent, for links. */
  path: string;
  search: string;
  header(name: string): string | null;
  /** Aborted when the client goes away before its answer is complete. */
  signal: AbortSignal;
  /**
   * For routes that learn from the body which sandbox they are about: has the host answer that has it, for the client
   * that `gone` watches. Null where there is no other host; the answer is null where it is this one's.
   */
  passOn: ((id: InstanceId, body: Uint8Array, gone: AbortSignal) => Promise<Answer | null>) | null;
}

/** How one status answers: a JSON schema, another media type, or nothing. */
export interface AnswerDoc {
  description: string;
  /** The operation returns a `ListPage`: its items are the body, its cursor the `Link` to the next page. */
  isPage?: boolean;
  schema?: z.ZodType;
  mediaType?: string;
  /** The other media type, for clients that accept it. */
  orMediaType?: string;
  headers?: Record<string, string>;
}

/** A JSON body, or an upload when `isUpload` says so of the parsed query. */
export interface OrUpload<S extends z.ZodType = z.ZodType> {
  json: S;
  isUpload(query: Record<string, unknown>): boolean;
}

export function orUpload<S extends z.ZodType>(json: S, isUpload: OrUpload['isUpload']): OrUpload<S> {
  return { json, isUpload };
}

export interface Route {
  method: Method;
  /** Below `/api`, unless `root`. `:name` is a parameter; a last `*` is the path of a file. */
  path: string;
  /** At the root only instead of below `/api`. Paths that start with `/instances` answer at both. */
  root: boolean;
  /** The `operationId` of the OpenAPI document and the client's method, in camelCase. */
  name: string;
  summary: string;
  tag: string;
  access: Access;
  params: z.ZodType | null;
  query: z.ZodType | null;
  /** The request headers that it reads, each with its effect. */
  headers: Record<string, string>;
  /**
   * `bytes`: held whole, at most the largest file. `stream`: an Upload, at most the largest sandbox; not read before
   * the handler asks.
   */
  body: z.ZodType | 'bytes' | 'stream' | OrUpload | null;
  /** The operation behind it, whose rule in lib/contract/access.ts decides who may call. Null: an open route. */
  operation: keyof Operations | null;
  answers: Record<number, AnswerDoc>;
  /** The sandbox that it is about, whose host answers. Null: the path names none. */
  sandboxOf: ((at: Pick<RouteContext, 'services' | 'caller' | 'params'>) => InstanceId | Promise<InstanceId>) | null;
  /** Makes the answer of an error, for routes whose clients do not read problem documents. */
  refusal?(problem: Answer, thrown: unknown): Answer;
  handle(context: RouteContext): Promise<Answer> | Answer;
}

/** What a schema, or a body of bytes, is to its handler once parsed. */
export type ParsedInput<S> = S extends z.ZodType
  ? z.output<S>
  : S extends OrUpload<infer J>
    ? z.output<J> | UploadStream
    : S extends 'bytes'
      ? Uint8Array
      : S extends 'stream'
        ? UploadStream
        : Record<string, never>;

/** The members that both kinds of routes have. */
export interface RouteSpec<
  Path extends string,
  P extends z.ZodType | null,
  Q extends z.ZodType | null,
  B extends Route['body'],
> {
  method: Method;
  path: Path;
  root?: boolean;
  summary: string;
  tag: string;
  access?: Access;
  params?: P;
  query?: Q;
  headers?: Record<string, string>;
  body?: B;
  answers: Record<number, AnswerDoc>;
}

/** Declares a route with a handler of its own; the types of its context come from the schemas. */
export function customRoute<
  Path extends string,
  P extends z.ZodType | null = null,
  Q extends z.ZodType | null = null,
  B extends Route['body'] = null,
>(
  spec: RouteSpec<Path, P, Q, B> & {
    name: string;
    operation: keyof Operations | null;
    handle(context: RouteContext<ParsedInput<P>, ParsedInput<Q>, ParsedInput<B>>): Promise<Answer> | Answer;
  },
): Route {
  return {
    method: spec.method,
    path: spec.path,
    root: spec.root ?? false,
    name: spec.name,
    summary: spec.summary,
    tag: spec.tag,
    access: spec.access ?? 'key',
    params: spec.params ?? null,
    query: spec.query ?? null,
    headers: spec.headers ?? {},
    body: spec.body ?? null,
    operation: spec.operation,
    answers: spec.answers,
    sandboxOf: /^\/instances\/:id(?:\/|$)/.test(spec.path) ? ({ params }) => (params as { id: InstanceId }).id : null,
    handle: (context) => spec.handle(context as RouteContext<ParsedInput<P>, ParsedInput<Q>, ParsedInput<B>>),
  };
}

/** Whether a request of the route may be kept under an `Idempotency-Key`: its body is read first, it answers JSON. */
export function isKeyed({ method, access, body, answers }: Route): boolean {
  const isHeld = body === null || body === 'bytes' || (body !== 'stream' && !('isUpload' in body));
  const isJson = Object.values(answers).every(({ mediaType }) => mediaType === undefined);
  return method !== 'GET' && access === 'key' && isHeld && isJson;
}
