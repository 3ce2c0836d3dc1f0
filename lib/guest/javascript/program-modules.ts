/**
 * The modules of one program: how QuickJS is given the text of a file, of a part of Node's interface, or of a CommonJS
 * module that is imported. Knows nothing of what runs them when.
 */
import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten';
import { stripTypes } from '../component-runner/strip-types.ts';
import { ABSENT, BUILTINS } from './guest-sources.ts';
import type { JavaScriptBridge } from './javascript-bridge.ts';
import { declaredKind, type ModuleFiles, resolveModule } from './module-files.ts';

const MODULE_SYNTAX = /\b(?:import|export|await)\b/;
/** Begins the names of modules that are not there. */
const MISSING = 'missing ';

interface ModuleParts {
  context: QuickJSContext;
  bridge: JavaScriptBridge;
  files: ModuleFiles;
  /** The guest's function that loads what is no ES module and gives the names of its exports, as JSON. */
  namesOf: () => QuickJSHandle;
}

export class ProgramModules {
  readonly #context: QuickJSContext;
  readonly #bridge: JavaScriptBridge;
  readonly #files: ModuleFiles;
  readonly #namesOf: () => QuickJSHandle;
  readonly #kinds = new Map<string, boolean>();
  /** Why each module that was asked for in vain is not there. */
  readonly #missing = new Map<string, unknown>();
  /** It is only looked at whether a text is a module: nothing that it imports is loaded. */
  #isProbing = false;
  #probes = 0;

  constructor({ context, bridge, files, namesOf }: ModuleParts) {
    this.#context = context;
    this.#bridge = bridge;
    this.#files = files;
    this.#namesOf = namesOf;
  }

  /** JavaScript of a file's text: a first line for the shell is a comment, and types are taken out. */
  plain(text: string, path: string): string {
    const code = text.replace(/^\uFEFF/, '').replace(/^#!/, '//');
    if (!/\.[cm]?ts$/.test(path)) return code;
    const plain = stripTypes(code);
    if ('problem' in plain)
      throw Object.assign(new Error(`${path}: ${plain.problem}`), { code: 'ERR_INVALID_TYPESCRIPT_SYNTAX' });
    return plain.code;
  }

  /** Whether a text that is no script is a module: it compiles, whatever is to be said of what it imports. */
  isModuleText(source: string, path: string): boolean {
    if (!MODULE_SYNTAX.test(source)) return false;
    this.#isProbing = true;
    const compiled = this.#context.evalCode(source, `${path}?`, { type: 'module', compileOnly: true });
    this.#isProbing = false;
    if (compiled.error === undefined) {
      compiled.dispose();
      return true;
    }
    const { stack } = compiled.error.consume((error) => this.#context.dump(error)) as { stack?: unknown };
    return !String(stack).includes(`at ${path}?:`);
  }

  isEsModule(path: string): boolean {
    const known = this.#kinds.get(path);
    if (known !== undefined) return known;
    const declared = path.endsWith('.json') ? 'commonjs' : declaredKind(this.#files, path);
    let isModule = declared === 'module';
    if (declared === null) {
      const source = this.plain(this.#files.text(path), path);
      if (MODULE_SYNTAX.test(source)) {
        const script = this.#context.evalCode(`(function () {${source}\n})`, `${path}?`, {
          type: 'global',
          compileOnly: true,
        });
        isModule = script.error !== undefined && this.isModuleText(source, path);
        script.dispose();
      }
    }
    this.#kinds.set(path, isModule);
    return isModule;
  }

  /** What cannot be found is told when it is loaded: QuickJS takes no error here. */
  pathOf(base: string, asked: string): string {
    if (this.#isProbing) {
      this.#probes += 1;
      return `probe ${this.#probes}`;
    }
    try {
      const name = asked.replace(/^node:/, '');
      if (BUILTINS.some((one) => one === name)) return `node:${name}`;
      if (Object.hasOwn(ABSENT, name)) throw absent(name);
      const specifier = asked.startsWith('file:') ? decodeURIComponent(new URL(asked).pathname) : asked;
      if (/^[a-z]+:/.test(specifier)) throw new Error(`Only files and modules are imported, not ${specifier}`);
      return resolveModule(this.#files, specifier, base, 'import');
    } catch (error) {
      const name = `${MISSING}${base} ${asked}`;
      this.#missing.set(name, error);
      return name;
    }
  }

  sourceOf(path: string): string | { error: Error } {
    if (this.#isProbing) return '';
    try {
      if (path.startsWith(MISSING)) throw this.#missing.get(path);
      if (!path.startsWith('node:') && this.isEsModule(path))
        return withMeta(this.plain(this.#files.text(path), path), path, false);
      const names = this.#context
        .newString(path)
        .consume((name) => this.#context.callFunction(this.#namesOf(), this.#context.undefined, name));
      if (names.error) return { error: names.error as unknown as Error };
      return wrapper(path, JSON.parse(names.value.consume((handle) => this.#bridge.text(handle))) as string[]);
    } catch (error) {
      return { error: this.#bridge.newError(error) as unknown as Error };
    }
  }

  /** The names of a module that waits for nothing at its top. */
  importNow(handle?: QuickJSHandle): QuickJSHandle | { error: QuickJSHandle } {
    const path = handle === undefined ? '' : this.#bridge.text(handle);
    const code = `import * as space from ${JSON.stringify(path)}; export { space }`;
    const evaluated = this.#context.evalCode(code, `${path}?required`, { type: 'module' });
    if (evaluated.error) return { error: evaluated.error };
    const state = this.#context.getPromiseState(evaluated.value);
    if (state.type === 'fulfilled') return state.value.consume((space) => this.#context.getProp(space, 'space'));
    evaluated.value.dispose();
    if (state.type === 'rejected') return { error: state.error };
    const message = `require() cannot be used on an ESM graph with top-level await. Use import() instead. ${path}`;
    return { error: this.#bridge.newError(Object.assign(new Error(message), { code: 'ERR_REQUIRE_ASYNC_MODULE' })) };
  }

  /** The body of a CommonJS module, or of a part of ours, as a function. */
  compiled(source: string, file: string, names = 'exports, require, module, __filename, __dirname') {
    return this.#context.evalCode(`(function (${names}) {${source}\n})`, file, { type: 'global' });
  }
}

function absent(name: string): Error {
  const message = `'${name}' is a module of Node.js that is not here: ${ABSENT[name]}`;
  return Object.assign(new Error(message), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' });
}

/** The source of an ES module, with what it says of itself set in its first line. */
export function withMeta(source: string, path: string, isMain: boolean): string {
  if (!source.includes('import.meta')) return source;
  const folder = path.slice(0, path.lastIndexOf('/')) || '/';
  const url = `file://${path.split('/').map(encodeURIComponent).join('/')}`;
  const meta = { url, filename: path, dirname: folder, main: isMain };
  const set = Object.entries(meta).map(([name, value]) => `import.meta.${name}=${JSON.stringify(value)};`);
  const resolve = `import.meta.resolve=(asked)=>{const found=globalThis[Symbol.for('js.resolve')](${JSON.stringify(path)},asked);return found;};`;
  return `${set.join('')}${resolve}${source}`;
}

/** An ES module with the names of one that is none. */
function wrapper(path: string, names: readonly string[]): string {
  const shown = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default');
  const taken = shown.map((name, at) => `${JSON.stringify(name)}: n${at}`).join(', ');
  const given = shown.map((name, at) => `n${at} as ${name}`).join(', ');
  return `const m = globalThis[Symbol.for('js.require')](${JSON.stringify(path)});
export default m;
const {${taken}} = m ?? {};
export {${given}};`;
}
