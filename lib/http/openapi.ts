/** The OpenAPI 3.1 document, made from the route table and nothing else. */

import { z } from 'zod';
import {
  createDocument,
  type oas31,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
} from 'zod-openapi';
import { ROLES } from '../auth/roles.ts';
import { RULES, type Rule } from '../contract/access.ts';
import { problemSchema } from '../contract/schema.ts';
import { type Example, exampleOf } from './examples.ts';
import { type AnswerDoc, isKeyed, type Route } from './route.ts';

type Documented = oas31.OperationObject;

const PROBLEM = {
  description: 'A problem; its `code` is stable',
  content: { 'application/problem+json': { schema: problemSchema } },
};

const TEXT = { type: 'string' as const };
const KEY_IN_WORDS =
  'Carries it out once: sent again under its key within ten minutes, the same request is answered as before, and goes on when the connection is lost.';

function answerOf(answer: AnswerDoc) {
  const headers = Object.entries(answer.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: TEXT },
  ]);
  const mediaType = answer.mediaType ?? (answer.schema === undefined ? null : 'application/json');
  return {
    description: answer.description,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...(mediaType === null
      ? {}
      : {
          content: {
            [mediaType]: answer.schema === undefined ? {} : { schema: answer.schema },
            ...(answer.orMediaType === undefined ? {} : { [answer.orMediaType]: { schema: TEXT } }),
          },
        }),
  };
}

/** A body of bytes may be sent as text as well: that is what a person types into the explorer. */
function bodyOf(body: NonNullable<Route['body']>, { body: json, text }: Example): ZodOpenApiRequestBodyObject {
  if (body === 'bytes' || body === 'stream') {
    const bytes = { 'application/octet-stream': {} };
    if (text === undefined) return { required: true, content: bytes };
    return { required: true, content: { 'text/plain': { schema: { type: 'string' }, example: text }, ...bytes } };
  }
  const example = json === undefined ? {} : { example: json };
  if ('isUpload' in body) {
    const either = { 'application/json': { schema: body.json, ...example }, 'application/octet-stream': {} };
    return { required: true, content: either };
  }
  // A body that may be empty may be left out.
  return { required: !body.safeParse({}).success, content: { 'application/json': { schema: body, ...example } } };
}

/** Gives each parameter that has an example its own, in place. */
function exemplify({ operationId, parameters = [] }: Documented): void {
  const { path, query } = exampleOf(operationId ?? '');
  for (const parameter of parameters) {
    if (!('in' in parameter)) continue;
    const examples = parameter.in === 'path' ? path : query;
    const example = examples?.[parameter.name];
    if (example !== undefined) parameter.example = example;
  }
}

/** The request headers as parameters: each may be left out. */
function headersOf(headers: Record<string, string>): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(headers).map(([name, description]) => [name, z.string().optional().meta({ description })]),
    ),
  );
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const headers = { ...route.headers, ...(isKeyed(route) && { 'Idempotency-Key': KEY_IN_WORDS }) };
  const parameters = {
    ...(route.params === null ? {} : { path: route.params as z.ZodObject }),
    ...(route.query === null ? {} : { query: route.query as z.ZodObject }),
    ...(Object.keys(headers).length === 0 ? {} : { header: headersOf(headers) }),
  };
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.tag],
    ...(route.operation === null ? {} : { description: rolesInWords(RULES[route.operation]) }),
    ...(route.access === 'open' ? { security: [] } : {}),
    ...(Object.keys(parameters).length === 0 ? {} : { requestParams: parameters }),
    ...(route.body === null ? {} : { requestBody: bodyOf(route.body, exampleOf(route.name)) }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer)])),
      default: PROBLEM,
    },
  };
}

/** Who may call it. */
function rolesInWords({ roles, about, reason }: Rule): string {
  const few =
    roles.length === 1 ? `the role ${roles[0]}` : `the roles ${roles.slice(0, -1).join(', ')} and ${roles.at(-1)}`;
  const who = roles.length === ROLES.length ? 'every role' : few;
  const only = about === 'everyone' ? ', not limited to some tenants' : '';
  return `For ${who}${only}.${reason === undefined ? '' : ` The role ${reason.join(', ')} must give a reason.`}`;
}

/** The document's address of a route: below `/api` unless it is at the root, the path of a file as one parameter. */
function pathOf(route: Route): string {
  const path = route.path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}');
  return route.root ? path : `/api${path}`;
}

/** Makes the document as JSON text. */
export function openApiText(routes: readonly Route[], about: { version: string; sessionCookie: string }): string {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    const path = pathOf(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Winterdock',
      version: about.version,
      description:
        'Agent sandboxes whose whole durable state is one SQLite file. Every path that starts with `/api/instances` also answers without `/api`. Times are epoch seconds; errors are `application/problem+json`.',
    },
    security: [{ key: [] }, { session: [] }],
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: about.sessionCookie },
      },
    },
    paths,
  });
  for (const methods of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(methods) as Documented[]) exemplify(operation);
  }
  return JSON.stringify(document);
}
