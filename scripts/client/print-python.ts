/**
 * Prints what the Python client shares with the other one: its types from the contract's schemas, its table and its
 * methods from the route table, and its sync half from its async half. Knows nothing of how it sends.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '../../lib/client/client.ts';
import { problemSchema } from '../../lib/contract/schema.ts';
import type { Route } from '../../lib/http/route.ts';
import { ROUTES } from '../../lib/http/routes.ts';
import { ROOT } from '../build.ts';
import { answeredBy, argumentsOf, callLinesOf } from './print-calls.ts';
import { TypeBook } from './print-types.ts';
import { pythonDefinitions, snakeCase } from './python-type.ts';

const PACKAGE = join(ROOT, 'clients', 'python', 'winterdock');
const TESTS = join(ROOT, 'clients', 'python', 'tests');
const WIDTH = 110;
const NOTE = 'Printed by `npm run client:calls`. Not to be written by hand.';

/** A file that is printed: where it lies, and its text. */
interface PrintedFile {
  path: string;
  text: string;
}

/** Files of the async half that the sync half has in a form of its own. */
const OTHERWISE: readonly string[] = ['__init__.py', 'calls.py', 'pages.py', 'wire.py'];

/** Methods of the client's own, instead of the printed ones. */
const OWN: readonly string[] = ['streamEvents'];

/** A type of the TypeScript signature as one of Python. */
function pythonName(type: string): string {
  const array = /^(.*)\[\]$/.exec(type);
  if (array !== null) return `List[${pythonName(array[1] ?? '')}]`;
  const options = type.split(' | ');
  if (options.length > 1) return `Union[${options.map(pythonName).join(', ')}]`;
  if (type === 'string') return 'str';
  if (type === 'void') return 'None';
  if (type === 'unknown') return 'Any';
  if (type === 'Volume' || type === 'Written') return type;
  if (type === 'Upload' || type === 'Download') return `Async${type}`;
  return `types.${type}`;
}

/** A docstring of a method, wrapped. */
function docstring(text: string): string[] {
  const lines = ['"""'];
  for (const word of text.replaceAll('\\', '\\\\').replaceAll('"', "'").split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length + 9 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' || last === '"""' ? `${last}${word}` : `${last} ${word}`;
  }
  const end = lines.length > 1 ? [...lines, '"""'] : [`${lines[0]}"""`];
  return end.map((line) => `        ${line}`);
}

/** One operation as a method of the async client. */
function methodText(route: Route, types: TypeBook): string {
  const name = snakeCase(route.name);
  const { kind, type } = answeredBy(route, types);
  const given = argumentsOf(route, types)
    .slice(0, -1)
    .map((argument) => /^(\w+)(\?)?: (.+)$/.exec(argument)?.slice(1) ?? []);
  const names = given.map(([argument = '']) => argument);
  const parameters = given.map(([argument = '', optional, typed = '']) => {
    const found = pythonName(typed);
    return optional === undefined ? `${argument}: ${found}` : `${argument}: Optional[${found}] = None`;
  });
  const answer = pythonName(/<(.+)>$/.exec(type)?.[1] ?? '');
  const body = names.find((argument) => argument === 'input' || argument === 'body') ?? 'None';
  const query = names.includes('query') ? 'query' : 'None';
  const path = names.filter((argument) => argument !== body && argument !== 'query');
  const call = `("${name}", (${path.map((one) => `${one},`).join(' ')}), ${body}, ${query}, options)`;
  const isPage = kind === 'page';
  const returned = isPage ? `AsyncPages[${answer}]` : answer;
  const lines = [
    `    ${isPage ? 'def' : 'async def'} ${name}(`,
    ...['self', ...parameters, '*', 'options: Optional[CallOptions] = None'].map((one) => `        ${one},`),
    `    ) -> ${returned}:`,
    ...docstring(route.summary),
  ];
  if (isPage) lines.push(`        return self._pages${call}`);
  else if (answer === 'None') lines.push(`        await self._answer${call}`);
  else lines.push(`        return cast("${returned}", await self._answer${call})`);
  return lines.join('\n');
}

function callsText(routes: readonly Route[], types: TypeBook): string {
  const printed = routes.map((route) => ({ name: route.name, text: methodText(route, types) }));
  const methods = printed.filter(({ name }) => !OWN.includes(name)).map(({ text }) => text);
  return `"""Every operation of the server as a method. ${NOTE}"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Union, cast

from .. import types
from .._call import CallOptions, Volume, Written
from .download import AsyncDownload
from .pages import AsyncPages
from .wire import AsyncUpload


class AsyncCalls:
    """One method for each operation: the path's parameters, then the body, then the query."""

    async def _answer(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> Any:
        raise NotImplementedError

    def _pages(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> AsyncPages[Any]:
        raise NotImplementedError

${methods.join('\n\n')}
`;
}

function tableText(routes: readonly Route[]): string {
  const literal = (value: unknown) => {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return JSON.stringify(value);
  };
  const lines = Object.entries(callLinesOf(routes)).map(
    ([name, { method, path, body, query, answer }]) =>
      `    "${snakeCase(name)}": CallLine(\n        ${[method, path, body, query, answer].map(literal).join(', ')}\n    ),`,
  );
  return `"""How each operation is sent and read. ${NOTE}"""

from __future__ import annotations

from typing import Dict

from ._call import CallLine

CALLS: Dict[str, CallLine] = {
${lines.join('\n')}
}
`;
}

function typesText(types: TypeBook): string {
  const all = types
    .entries()
    .flatMap(({ name, schema, side }) => pythonDefinitions(name, schema, side, types.nameWithin));
  // An alias is read where it stands, so it stands after the classes that it names.
  const isClass = (text: string) => text.startsWith('class ') || text.includes(' = TypedDict(');
  return `"""What the calls take and answer. ${NOTE}"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

${[...all.filter(isClass), ...all.filter((text) => !isClass(text))].map((text) => `\n${text}\n`).join('\n')}`;
}

/** Words of the async half that are others in the sync half. */
const SYNC_WORDS: Readonly<Record<string, string>> = {
  __aenter__: '__enter__',
  __aexit__: '__exit__',
  __aiter__: '__iter__',
  __anext__: '__next__',
  AsyncIterator: 'Iterator',
  AsyncIterable: 'Iterable',
  AsyncGenerator: 'Generator',
  StopAsyncIteration: 'StopIteration',
  aclose: 'close',
  _async: '_sync',
  IsolatedAsyncioTestCase: 'TestCase',
  asyncSetUp: 'setUp',
  asyncTearDown: 'tearDown',
  addAsyncCleanup: 'addCleanup',
};

/** Async generators have two types, others three: what they return is the third. */
function withGeneratorsOfThree(text: string): string {
  const word = 'AsyncGenerator[';
  const [first = '', ...rest] = text.split(word);
  const closed = rest.map((part) => {
    let depth = 1;
    let at = 0;
    for (; depth > 0 && at < part.length; at += 1) {
      if (part[at] === '[') depth += 1;
      if (part[at] === ']') depth -= 1;
    }
    return `${part.slice(0, at - 1)}, None${part.slice(at - 1)}`;
  });
  return [first, ...closed].join(word);
}

/** The sync half of a file of the async half. */
function syncText(text: string): string {
  return withGeneratorsOfThree(text)
    .replace(/^"""/, `"""${NOTE}\n\n`)
    .replaceAll(/\basync (def|for|with)\b/g, '$1')
    .replaceAll(/\bawait /g, '')
    .replaceAll(/\b[A-Za-z_]+\b/g, (word) => SYNC_WORDS[word] ?? word.replace(/^(_?)Async(?=[A-Z])/, '$1'))
    .replaceAll(/\basync with\b/g, 'with');
}

/** What the TypeScript client has beside the operations: its streams and its forms with bytes. */
function ownMethods(routes: readonly Route[]): string[] {
  const names = new Set(routes.map(({ name }) => name));
  const client = createClient({ url: 'http://localhost:3000', key: null });
  const own = Object.keys(client).filter((name) => name !== 'url' && !names.has(name));
  return [...own, ...OWN].toSorted();
}

/** Every method that both clients have, by its name in TypeScript and in Python. */
export function methodNames(routes: readonly Route[] = ROUTES): [string, string][] {
  return [...routes.map(({ name }) => name), ...ownMethods(routes)].map((name) => [name, snakeCase(name)]);
}

/** The table of all operations with the name that each client gives it. */
function parityText(routes: readonly Route[]): string {
  const types = new TypeBook();
  const rows = routes.map((route) => {
    const names = argumentsOf(route, types)
      .slice(0, -1)
      .map((argument) => argument.split(':')[0] ?? '');
    const path = route.root ? route.path : `/api${route.path}`;
    const python = names.map((name) => name.replace('?', '=None')).join(', ');
    return `| \`${route.method} ${path}\` | \`${route.name}(${names.join(', ')})\` | \`${snakeCase(route.name)}(${python})\` |`;
  });
  return `# Operations and the clients

What each operation of the API is called in the clients for TypeScript and for Python. Printed from the route table by \`npm run client:calls\`; a
test holds it, and another that both clients have each method with these arguments. What they answer is in \`GET /openapi.json\`.

| operation | TypeScript | Python |
|---|---|---|
${rows.join('\n')}

Beside them both have these, which follow what runs, or have bytes where JSON has text:

| TypeScript | Python |
|---|---|
${ownMethods(routes)
  .map((name) => `| \`${name}\` | \`${snakeCase(name)}\` |`)
  .join('\n')}
`;
}

/** The printed files. Throws when a route uses a schema that lib/contract/schema.ts does not export. */
export function printedPython(routes: readonly Route[] = ROUTES): PrintedFile[] {
  const types = new TypeBook();
  const calls = callsText(routes, types);
  types.name(problemSchema, 'output');
  const own = readdirSync(join(PACKAGE, '_async'))
    .filter((name) => name.endsWith('.py') && !OTHERWISE.includes(name))
    .map((name) => ({ name, text: readFileSync(join(PACKAGE, '_async', name), 'utf8') }));
  return [
    { path: join(PACKAGE, 'types.py'), text: typesText(types) },
    { path: join(PACKAGE, '_table.py'), text: tableText(routes) },
    { path: join(PACKAGE, '_async', 'calls.py'), text: calls },
    ...[{ name: 'calls.py', text: calls }, ...own].map(({ name, text }) => ({
      path: join(PACKAGE, '_sync', name),
      text: syncText(text),
    })),
    ...readdirSync(TESTS)
      .filter((name) => name.startsWith('test_async_'))
      .map((name) => ({
        path: join(TESTS, name.replace('_async_', '_sync_')),
        text: syncText(readFileSync(join(TESTS, name), 'utf8')),
      })),
    { path: join(ROOT, 'docs', 'client-calls.md'), text: parityText(routes) },
  ];
}
