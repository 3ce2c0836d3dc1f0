/**
 * Routes whose handler is their operation. The parameters of the path in their order, the query and the body are its
 * arguments; its result is the answer. The compiler holds the inputs of a route against the operation.
 */
import { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import type { ListPage } from '../operations/list-page.ts';
import type { Operations } from '../operations/operations.ts';
import { type Answer, empty, json } from './answer.ts';
import { nextLink } from './paging.ts';
import {
  type AnswerDoc,
  customRoute,
  type ParsedInput,
  type Route,
  type RouteContext,
  type RouteSpec,
} from './route.ts';

/** The answer of a list: a page of `items`, with a link to the next one. */
export function listAnswer(description: string, items: z.ZodType): AnswerDoc {
  return {
    description,
    isPage: true,
    schema: z.array(items),
    headers: { Link: 'The next page, `rel="next"`, when there is one' },
  };
}

/** The parameters of a path in their order. */
type ParameterNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? [Name, ...ParameterNames<`/${Rest}`>]
  : Path extends `${string}:${infer Name}`
    ? [Name]
    : Path extends `${string}/*`
      ? ['path']
      : [];
type ValuesOf<Names extends readonly string[], P> = {
  [I in keyof Names]: Names[I] extends keyof ParsedInput<P> ? ParsedInput<P>[Names[I]] : never;
};
type Inputs<Path extends string, P, Q, B, C> = [
  Caller,
  ...ValuesOf<ParameterNames<Path>, P>,
  ...(Q extends null ? [] : [ParsedInput<Q>]),
  ...(B extends null ? [] : [ParsedInput<B>]),
  ...(C extends true ? [AbortSignal] : []),
];
/** Does not compile when the inputs of a route are not the arguments of its operation. */
type Fits<Op extends keyof Operations, Given> =
  Given extends Parameters<Operations[Op]>
    ? unknown
    : { operation: 'must take the path, query and body of its route, in this order' };

/**
 * Declares a route whose handler is its operation: the parameters of the path in their order, the query and the body
 * are its arguments; its result is the JSON of the one good status in `answers`, a page of a list, or nothing.
 */
export function route<
  const Path extends string,
  Op extends keyof Operations,
  P extends z.ZodType | null = null,
  Q extends z.ZodType | null = null,
  B extends Route['body'] = null,
  C extends boolean = false,
>(
  spec: RouteSpec<Path, P, Q, B> & {
    operation: Op;
    /** Default: the name of the operation. */
    name?: string;
    /** The operation takes a signal as its last argument: it ends when the client goes away. */
    cancellable?: C;
    /** Makes the answer of the result, where it has headers of its own or one of several statuses. */
    answer?(result: Awaited<ReturnType<Operations[Op]>>, context: RouteContext): Answer;
  } & Fits<Op, Inputs<Path, P, Q, B, C>>,
): Route {
  const { operation, cancellable = false, answer = answerOf(spec.answers) } = spec;
  const names = [...spec.path.matchAll(/:(\w+)|\*/g)].map(([, name = 'path']) => name);
  return customRoute({
    ...(spec as RouteSpec<Path, P, Q, B>),
    name: spec.name ?? operation,
    operation,
    async handle(context) {
      const { services, caller, query, body } = context;
      const params = context.params as Record<string, unknown>;
      const inputs = names.map((name) => params[name]);
      if (spec.query) inputs.push(query);
      if (spec.body) inputs.push(body);
      if (cancellable) inputs.push(context.signal);
      const run = services.operations[operation] as (caller: Caller, ...inputs: unknown[]) => Promise<unknown>;
      return answer((await run(caller, ...inputs)) as Awaited<ReturnType<Operations[Op]>>, context as RouteContext);
    },
  });
}

/** What a result becomes: a page, JSON, or nothing, by the one good status that a route declares. */
function answerOf(answers: Record<number, AnswerDoc>): (result: unknown, context: RouteContext) => Answer {
  const status = Number(Object.keys(answers)[0]);
  const doc = answers[status];
  if (doc?.isPage) {
    return (result, { path, search }) => {
      const { items, next } = result as ListPage<unknown>;
      return json(status, items, nextLink(path, search, next));
    };
  }
  return doc?.schema === undefined ? () => empty(status) : (result) => json(status, result);
}
