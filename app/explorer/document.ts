/** Reads the OpenAPI document for the explorer, and puts a sandbox of the visitor into its examples. Pure. */

interface Schema {
  $ref?: string;
  items?: Schema;
  enum?: unknown[];
  type?: string | string[];
  description?: string;
  default?: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
    example?: unknown;
  }[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media> }>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

/** A parameter of a call, in its path, query or headers. */
export interface CallParameter {
  name: string;
  place: 'path' | 'query' | 'header';
  required: boolean;
  example: string;
  /** The values that it may have; empty: any. */
  choices: string[];
  says: string | null;
}

/** One operation, ready to render. */
export interface ListedOperation {
  name: string;
  method: string;
  path: string;
  summary: string;
  /** Who may call it, in words. */
  access: string | null;
  parameters: CallParameter[];
  /** An example body that works as it is; null when the operation takes none. */
  body: { json: boolean; example: string } | null;
  answers: { status: string; description: string; type: string | null }[];
}

/** Operations below one tag. */
export interface OperationGroup {
  tag: string;
  operations: ListedOperation[];
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

function bodyOf({ requestBody }: Operation): ListedOperation['body'] {
  const [found] = Object.entries(requestBody?.content ?? {});
  if (found === undefined) return null;
  const [mediaType, { example }] = found;
  const json = mediaType === 'application/json';
  if (example === undefined) return { json, example: json ? '{}' : '' };
  return { json, example: typeof example === 'string' ? example : JSON.stringify(example, null, 2) };
}

function parametersOf({ parameters = [] }: Operation): CallParameter[] {
  return parameters.map(({ name, in: place, required = false, description, schema, example }) => ({
    name,
    place: place as CallParameter['place'],
    required,
    example: example === undefined ? '' : String(example),
    choices: (schema?.enum ?? []).map(String),
    says: description ?? schema?.description ?? null,
  }));
}

/** All operations by tag, in the document's order. */
export function operationGroups(document: OpenApiDocument): OperationGroup[] {
  const tags = new Map<string, ListedOperation[]>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const listed: ListedOperation = {
        name: operation.operationId,
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        access: operation.description ?? null,
        parameters: parametersOf(operation),
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
  return [...tags].map(([tag, operations]) => ({ tag, operations }));
}

/** `execInInstance` as the words `exec in instance`. */
function nameWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The operations in which each word of `search` occurs: in the name, method, path, summary, parameters or tag. */
export function searchOperations(groups: readonly OperationGroup[], search: string): OperationGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...groups];
  return groups
    .map(({ tag, operations }) => ({
      tag,
      operations: operations.filter(({ name, method, path, summary, parameters }) => {
        const names = parameters.map((parameter) => parameter.name).join(' ');
        const text = `${name} ${nameWords(name)} ${method} ${path} ${summary} ${names} ${tag}`.toLowerCase();
        return words.every((word) => text.includes(word));
      }),
    }))
    .filter(({ operations }) => operations.length > 0);
}
