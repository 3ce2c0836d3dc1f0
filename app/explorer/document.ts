/** Reads the OpenAPI document for the explorer, and puts a sandbox of the visitor into its examples. Pure. */

interface Media {
  schema?: { $ref?: string; items?: { $ref?: string } };
  example?: unknown;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

/** One operation, ready to render. */
export interface ListedOperation {
  name: string;
  method: string;
  path: string;
  summary: string;
  parameters: { name: string; place: string; required: boolean }[];
  /** An example body that works as it is; null when the operation takes none. */
  body: string | null;
  answers: { status: string; description: string; type: string | null }[];
}

/** The document with the sandbox `own` in its examples, because the original id may be taken for good. */
export function withOwnSandbox(text: string, example: string, own: string): string {
  return text.replaceAll(example, own);
}

function typeOf(content: Record<string, Media> | undefined): string | null {
  const [found] = Object.entries(content ?? {});
  if (found === undefined) return null;
  const [mediaType, { schema }] = found;
  const named = (ref: string | undefined) => ref?.split('/').at(-1);
  const one = named(schema?.$ref);
  const many = named(schema?.items?.$ref);
  return one ?? (many === undefined ? mediaType : `array of ${many}`);
}

function bodyOf({ requestBody }: Operation): string | null {
  const [found] = Object.entries(requestBody?.content ?? {});
  if (found === undefined) return null;
  const [mediaType, { example }] = found;
  if (example === undefined) return mediaType === 'application/json' ? '{}' : 'bytes';
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

/** All operations by tag, in the document's order. */
export function operationsByTag(document: OpenApiDocument): [tag: string, operations: ListedOperation[]][] {
  const tags = new Map<string, ListedOperation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const listed: ListedOperation = {
        name: operation.operationId,
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        parameters: (operation.parameters ?? []).map(({ name, in: place, required = false }) => ({
          name,
          place,
          required,
        })),
        body: bodyOf(operation),
        answers: Object.entries(operation.responses).map(([status, { description, content }]) => ({
          status: status === 'default' ? 'else' : status,
          description,
          type: typeOf(content),
        })),
      };
      const tag = operation.tags[0] ?? 'Other';
      tags.set(tag, [...(tags.get(tag) ?? []), listed]);
    }
  }
  return [...tags];
}
