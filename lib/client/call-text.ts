/**
 * Shows one call as text to copy: curl, and TypeScript with the client. The key is never in it: curl reads the variable
 * WINTERDOCK_KEY, as the client and the command line do. Pure; safe for the browser.
 */
import { parametersOf, searchOf } from './address.ts';
import type { CallLine } from './call.ts';
import { CALLS } from './calls.ts';

export type CallName = keyof typeof CALLS;

/** A call with its values. What is missing of the path is shown as a placeholder. */
export interface SampleCall {
  name: CallName;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  /** JSON, or text where the call takes bytes; without it a call that needs bytes names a file. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Whether there is a call of this name. */
export function isCallName(name: string): name is CallName {
  return Object.hasOwn(CALLS, name);
}

/** A path parameter's value, or its name as a placeholder. */
export function pathValue({ path }: SampleCall, name: string): string {
  const value = path?.[name];
  return value === undefined || value === '' ? name.toUpperCase() : value;
}

/** The parameters that are given. An empty field is none. */
export function givenEntries(values: Readonly<Record<string, unknown>> | undefined): [string, unknown][] {
  return Object.entries(values ?? {}).filter(([, value]) => value !== undefined && value !== '');
}

/** The path and query of a call, percent-encoded. */
export function addressText(call: SampleCall): string {
  const line: CallLine = CALLS[call.name];
  const path = line.path
    .split('/')
    .map((segment) => {
      if (segment === '*')
        return encodeURI(pathValue(call, 'path').replace(/^\//, '')).replace(/[?#]/g, encodeURIComponent);
      return segment.startsWith(':') ? encodeURIComponent(pathValue(call, segment.slice(1))) : segment;
    })
    .join('/');
  return `${path}${line.query ? searchOf(Object.fromEntries(givenEntries(call.query))) : ''}`;
}

/** Control characters but line breaks. */
const CONTROL = /[^\P{Cc}\n]/u;
const SAFE_BYTE = /[\w@+=:,./]/;

/**
 * Text with control characters as what prints it: these may come from a sandbox, as in the name of a file, and would
 * act as keys where the line is pasted. Line breaks at the end stand outside, for a substitution drops them.
 */
function printedWord(text: string): string {
  const body = text.replace(/\n+$/, '');
  const bytes = [...new TextEncoder().encode(body)].map((byte) => {
    const sign = String.fromCharCode(byte);
    return byte < 0x80 && SAFE_BYTE.test(sign) ? sign : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  const end = text.slice(body.length);
  return `"$(printf '${bytes.join('')}')"${end === '' ? '' : `'${end}'`}`;
}

/** One word of a POSIX shell. */
export function shellWord(text: string): string {
  if (CONTROL.test(text)) return printedWord(text);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Calls that anybody may make. */
const OPEN: readonly CallName[] = ['health', 'readiness', 'openapi'];

/** The call as a curl command of the server at `origin`. */
export function curlText(call: SampleCall, origin: string): string {
  const line: CallLine = CALLS[call.name];
  const method = line.method === 'GET' ? [] : [`--request ${line.method}`];
  const quiet = line.answer === 'events' ? '--no-buffer ' : '';
  const lines = [[`curl ${quiet}`.trim(), ...method, shellWord(`${origin}${addressText(call)}`)].join(' ')];
  if (!OPEN.includes(call.name)) lines.push('--header "Authorization: Bearer $WINTERDOCK_KEY"');
  for (const [name, value] of givenEntries(call.headers)) lines.push(`--header ${shellWord(`${name}: ${value}`)}`);
  if (line.body === 'json' || (line.body === 'either' && call.body !== undefined)) {
    lines.push('--header "Content-Type: application/json"', `--data ${shellWord(JSON.stringify(call.body ?? {}))}`);
  } else if (line.body !== null) {
    const bytes = typeof call.body === 'string' ? shellWord(call.body) : '@FILE';
    lines.push('--header "Content-Type: application/octet-stream"', `--data-binary ${bytes}`);
  }
  if (line.answer === 'download') lines.push('--output FILE');
  return lines.join(' \\\n  ');
}

/** A value as TypeScript. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** The call as a program that uses the client. */
export function typeScriptText(call: SampleCall, origin: string): string {
  const line: CallLine = CALLS[call.name];
  const values = parametersOf(line.path).map((name) => JSON.stringify(pathValue(call, name)));
  if (line.body !== null) {
    const isBytes = line.body === 'bytes' || (line.body === 'either' && call.body === undefined);
    values.push(isBytes && typeof call.body !== 'string' ? 'bytes' : literal(call.body ?? {}));
  }
  const query = line.query ? givenEntries(call.query) : [];
  const headers = givenEntries(call.headers);
  if (line.query && (query.length > 0 || headers.length > 0)) values.push(literal(Object.fromEntries(query)));
  if (headers.length > 0) values.push(literal({ headers: Object.fromEntries(headers) }));
  const made = `dock.${call.name}(${values.join(', ')})`;
  const lines = [
    "import { createClient } from 'winterdock/client';",
    '',
    '// The key is read from WINTERDOCK_KEY.',
    `const dock = createClient({ url: ${JSON.stringify(origin)} });`,
  ];
  if (values.includes('bytes')) {
    lines.unshift("import { readFile } from 'node:fs/promises';");
    lines.push("const bytes = await readFile('FILE');");
  }
  if (line.answer === 'page' || line.answer === 'events') {
    lines.push(`for await (const item of ${made}) console.log(item);`);
  } else if (line.answer === 'download') {
    lines.push(`const answer = await ${made};`, 'console.log(await answer.text());');
  } else if (line.answer === 'nothing') {
    lines.push(`await ${made};`);
  } else {
    lines.push(`console.log(await ${made});`);
  }
  return lines.join('\n');
}
