'use client';
/**
 * The interactive explorer: Swagger UI, loaded on this page only, in the place of the plain list. It makes no request
 * to another origin and offers no sign-in: calls use the visitor's session.
 */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type OpenApiDocument, withOwnSandbox } from './document.ts';
import { explorerPlugin } from './explorer-plugin.ts';
import { fetchAWhile } from './streams.ts';

/** The document for Swagger UI: with the visitor's sandbox in the examples, and without authentication schemes. */
async function readDocument(example: string): Promise<Record<string, unknown>> {
  const own = `try-${Date.now().toString(36)}`;
  const answer = await fetch('/openapi.json');
  if (!answer.ok) throw new Error(`The document answered ${answer.status}.`);
  const document = JSON.parse(withOwnSandbox(await answer.text(), example, own));
  delete document.security;
  delete document.components?.securitySchemes;
  // Swagger UI shows summaries without their `code` marks.
  for (const operation of Object.values(document.paths as OpenApiDocument['paths']).flatMap((methods) =>
    Object.values(methods),
  )) {
    operation.summary = operation.summary.replaceAll('`', '');
  }
  return document;
}

/** `children`: the plain list, which stays when Swagger UI cannot be loaded. */
export function Explorer({ example, children }: { example: string; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const begun = useRef(false);
  const [state, setState] = useState<'plain' | 'ready' | 'failed'>('plain');

  useEffect(() => {
    const domNode = place.current;
    if (domNode === null || begun.current) return;
    begun.current = true;
    const load = async () => {
      const [{ default: SwaggerUI }, spec] = await Promise.all([
        import('swagger-ui-dist/swagger-ui-es-bundle.js'),
        readDocument(example),
      ]);
      SwaggerUI({
        domNode,
        spec,
        layout: 'OperationsLayout',
        plugins: [explorerPlugin],
        docExpansion: 'list',
        defaultModelsExpandDepth: -1,
        defaultModelRendering: 'example',
        displayRequestDuration: true,
        tryItOutEnabled: true,
        validatorUrl: null,
        persistAuthorization: false,
        withCredentials: false,
        syntaxHighlight: { activated: false },
        requestInterceptor: (request) => Object.assign(request, { userFetch: fetchAWhile }),
        onComplete: () => setState('ready'),
      });
    };
    load().catch(() => setState('failed'));
  }, [example]);

  return (
    <>
      <div ref={place} className="explorer" hidden={state !== 'ready'} />
      {state === 'failed' && (
        <p className="complaint mb-4" role="alert">
          The interactive explorer did not load. Read the calls here, or load the page again.
        </p>
      )}
      {state !== 'ready' && children}
    </>
  );
}
