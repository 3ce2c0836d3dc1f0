/** The OpenAPI 3.1 document, made from the route table and nothing else. */

import type { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { AnswerDoc, Route } from './route.ts';
import { problemSchema } from './schema.ts';

const PROBLEM = {
  description: 'A problem; its `code` is stable',
  content: { 'application/problem+json': { schema: problemSchema } },
};

function answerOf(answer: AnswerDoc) {
  const headers = Object.entries(answer.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ]);
  const mediaType = answer.mediaType ?? (answer.schema === undefined ? null : 'application/json');
  return {
    description: answer.description,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...(mediaType === null
      ? {}
      : { content: { [mediaType]: answer.schema === undefined ? {} : { schema: answer.schema } } }),
  };
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const parameters = {
    ...(route.params === null ? {} : { path: route.params as z.ZodObject }),
    ...(route.query === null ? {} : { query: route.query as z.ZodObject }),
  };
  return {
    operationId: route.name,
    summary: route.summary,
    tags: [route.tag],
    ...(route.access === 'open' ? { security: [] } : {}),
    ...(Object.keys(parameters).length === 0 ? {} : { requestParams: parameters }),
    ...(route.body === null
      ? {}
      : {
          requestBody:
            route.body === 'bytes' || route.body === 'stream'
              ? { required: true, content: { 'application/octet-stream': {} } }
              : 'isUpload' in route.body
                ? {
                    required: true,
                    content: { 'application/json': { schema: route.body.json }, 'application/octet-stream': {} },
                  }
                : { required: false, content: { 'application/json': { schema: route.body } } },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer)])),
      default: PROBLEM,
    },
  };
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
  return JSON.stringify(
    createDocument({
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
    }),
  );
}
