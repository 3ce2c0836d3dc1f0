/** The shape of one line of the route table. Knows nothing of sockets. */
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { RULES } from '../contract/access.ts';
import type { Metrics } from '../health/metrics.ts';
import type { EventHub } from '../ledger/events.ts';
import type { Operations } from '../operations/operations.ts';
import type { Upload } from '../operations/streams.ts';
import type { Answer } from './answer.ts';
import type { ChangeFeed } from './changes.ts';

/** What handlers work with. */
export interface Services {
  operations: Operations;
  events: EventHub;
  changes: ChangeFeed;
  metrics: Metrics;
  /** Resolves when the server can do its work; throws `storage_unavailable` when it cannot. */
  ready(): Promise<void>;
  /** The OpenAPI document as JSON text. */
  openapi(): string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `key`: an admin key or a session; `open`: anyone; `metrics`: like `key` unless the settings open it. */
export type Access = 'key' | 'open' | 'metrics';

export interface Context<P = unknown, Q = unknown, B = unknown> {
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
}

/** How one status answers: a JSON schema, another media type, or nothing. */
export interface AnswerDoc {
  description: string;
  schema?: z.ZodType;
  mediaType?: string;
  /** What it answers instead to who accepts that. */
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
  /** Name of the operation, in camelCase. */
  name: string;
  summary: string;
  tag: string;
  access: Access;
  params: z.ZodType | null;
  query: z.ZodType | null;
  /** Request headers that it reads, with what they do. */
  headers: Record<string, string>;
  /**
   * `bytes`: held whole, at most the largest file. `stream`: an Upload, at most the largest sandbox; not read before
   * the handler asks.
   */
  body: z.ZodType | 'bytes' | 'stream' | OrUpload | null;
  /**
   * The operation that it is the way to, whose line in the table of access.ts holds for it. Null: none, as it is open.
   */
  needs: keyof Operations | null;
  answers: Record<number, AnswerDoc>;
  handle(context: Context): Promise<Answer> | Answer;
}

type Output<S> = S extends z.ZodType
  ? z.output<S>
  : S extends OrUpload<infer J>
    ? z.output<J> | Upload
    : S extends 'bytes'
      ? Uint8Array
      : S extends 'stream'
        ? Upload
        : Record<string, never>;

/** Declares a route; the types of its handler's context come from its schemas. */
export function route<
  P extends z.ZodType | null = null,
  Q extends z.ZodType | null = null,
  B extends z.ZodType | 'bytes' | 'stream' | OrUpload | null = null,
>(spec: {
  method: Method;
  path: string;
  root?: boolean;
  name: string;
  summary: string;
  tag: string;
  access?: Access;
  params?: P;
  query?: Q;
  headers?: Record<string, string>;
  body?: B;
  /** Default: the operation of the route's own name, if there is one. */
  needs?: keyof Operations | null;
  answers: Record<number, AnswerDoc>;
  handle(context: Context<Output<P>, Output<Q>, Output<B>>): Promise<Answer> | Answer;
}): Route {
  return {
    ...spec,
    root: spec.root ?? false,
    headers: spec.headers ?? {},
    access: spec.access ?? 'key',
    params: spec.params ?? null,
    query: spec.query ?? null,
    body: spec.body ?? null,
    needs: spec.needs === undefined ? operationOf(spec.name) : spec.needs,
    handle: (context) => spec.handle(context as Context<Output<P>, Output<Q>, Output<B>>),
  };
}

function operationOf(name: string): keyof Operations | null {
  return Object.hasOwn(RULES, name) ? (name as keyof Operations) : null;
}
