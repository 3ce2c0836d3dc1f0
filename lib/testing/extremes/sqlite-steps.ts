/**
 * For tests: how many instructions SQLite itself takes for the statements of the registry. The driver has no way to
 * ask, so each statement is noted when it runs, and run again on a copy of the file in the WebAssembly build, of the
 * same version, which has one. Knows nothing of what is asked.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { SqlValue } from '@sqlite.org/sqlite-wasm';
import Database from 'better-sqlite3';

type Noted = { sql: string; values: unknown[] };

const METHODS = ['all', 'get', 'iterate'] as const;

/** Notes what every connection of this process reads from now on. Returns what takes the notes. */
export function noteReads(): () => Noted[] {
  let noted: Noted[] = [];
  const client = new Database(':memory:');
  const prototype = Object.getPrototypeOf(client.prepare('SELECT 1')) as Record<
    string,
    (...args: unknown[]) => unknown
  >;
  for (const method of METHODS) {
    const original = prototype[method];
    if (original === undefined) throw new Error(`A statement has no ${method}.`);
    prototype[method] = function noting(this: Database.Statement, ...values: unknown[]) {
      if (/^\s*(?:select|with)/i.test(this.source)) noted.push({ sql: this.source, values });
      return original.apply(this, values);
    };
  }
  client.close();
  return () => {
    const taken = noted;
    noted = [];
    return taken;
  };
}

/** Opens a copy of the file at `path`. The function that it returns runs statements and adds up their instructions. */
export async function copyOf(path: string): Promise<(noted: readonly Noted[]) => number> {
  const { default: init } = await import('@sqlite.org/sqlite-wasm');
  const require = createRequire(import.meta.url);
  const wasmBinary = readFileSync(require.resolve('@sqlite.org/sqlite-wasm/sqlite3.wasm'));
  const sqlite = await (init as (options: object) => ReturnType<typeof init>)({ wasmBinary });
  const source = new Database(path, { readonly: true });
  const image = source.serialize();
  source.close();
  // Not in WAL mode: there is no shared memory here.
  image.fill(1, 18, 20);
  const { capi, wasm } = sqlite;
  const copy = new sqlite.oo1.DB();
  const bytes = wasm.allocFromTypedArray(new Uint8Array(image));
  const code = capi.sqlite3_deserialize(
    copy,
    'main',
    bytes,
    image.length,
    image.length,
    capi.SQLITE_DESERIALIZE_FREEONCLOSE,
  );
  copy.checkRc(code);
  return (noted) => {
    let steps = 0;
    for (const { sql, values } of noted) {
      const statement = copy.prepare(sql);
      try {
        const [first] = values;
        const isNamed =
          values.length === 1 && typeof first === 'object' && first !== null && !ArrayBuffer.isView(first);
        for (let at = 1; at <= statement.parameterCount; at += 1) {
          const name = capi.sqlite3_bind_parameter_name(statement, at)?.slice(1) ?? '';
          statement.bind(at, (isNamed ? (first as Record<string, unknown>)[name] : values[at - 1]) as SqlValue);
        }
        while (statement.step());
        steps += capi.sqlite3_stmt_status(statement, capi.SQLITE_STMTSTATUS_VM_STEP, 0);
      } finally {
        statement.finalize();
      }
    }
    return steps;
  };
}
