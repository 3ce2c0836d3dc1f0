/** Programs of `js` that try to leave, to last or to break their interpreter; what each prints and how it ends. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
let box: InstanceProcess | null = null;

/** Runs a program; `before` is what the shell runs in front of it. */
async function js(code: string, { before = '', timeoutMs = 60_000 } = {}) {
  box ??= at.open('hostile');
  const encoded = Buffer.from(code).toString('base64');
  const command = `cd /workspace; rm -rf *; echo ${encoded} | base64 -d > main.js; ${before} js main.js; echo "=$?"`;
  const { stdout, stderr } = await box.exec({ command, timeoutMs });
  const [, printed = '', exitCode = ''] = /^(.*)=(\d+)\n$/s.exec(stdout) ?? [];
  return { printed, stderr, exitCode: Number(exitCode) };
}

beforeAll(() => {
  box = at.open('hostile');
});

describe('a program reaches nothing of the host', () => {
  test('constructors of every global and of every part lead to its own realm', async () => {
    const { printed } = await js(`
      const seen = new Set();
      const look = (value, depth) => {
        if (value === null || !['object', 'function'].includes(typeof value) || depth > 2) return;
        try { seen.add(value.constructor.constructor('return this === globalThis')() ); } catch {}
        for (const key of Reflect.ownKeys(value)) { try { look(value[key], depth + 1); } catch {} }
      };
      for (const key of Reflect.ownKeys(globalThis)) { try { look(globalThis[key], 0); } catch {} }
      for (const name of require('module').builtinModules) look(require(name), 0);
      const made = Function('return process')();
      console.log([...seen].filter((one) => typeof one === 'boolean').join(), made === process, process.versions.node, process.version.startsWith('quickjs'));
      try { process.binding('fs'); } catch (e) { console.log(e.message); }`);
    expect(printed).toBe(
      'true true undefined true\nprocess.binding is not here: there is nothing of Node.js behind it\n',
    );
  });

  test('paths and links lead to the volumes alone', async () => {
    const { printed } = await js(`
      const fs = require('fs');
      const tried = (work) => { try { return String(work()); } catch (e) { return e.code; } };
      fs.symlinkSync('/etc/passwd', 'link'); fs.symlinkSync('../../../../etc', 'up');
      const paths = ['/etc/passwd', '../../etc/passwd', '/proc/self/environ', '/proc/1/maps', '/dev/mem', '/root', 'link', 'up/passwd', 'file:///etc/passwd'];
      console.log(paths.map((path) => tried(() => fs.readFileSync(path))).join());
      console.log(['/etc/x', '/x', 'link', '/usr/bin/x'].map((path) => tried(() => fs.writeFileSync(path, ''))).join());
      console.log(['/etc/passwd', '../../etc/passwd', 'node:boot', 'inspect'].map((name) => tried(() => require(name))).join());
      console.log(fs.readdirSync('/').join());`);
    expect(printed).toBe(
      `${Array(9).fill('ENOENT').join()}\nEACCES,EACCES,EACCES,EACCES\nMODULE_NOT_FOUND,MODULE_NOT_FOUND,ERR_UNKNOWN_BUILTIN_MODULE,MODULE_NOT_FOUND\nbin,dev,memory,tmp,usr,workspace\n`,
    );
  });

  test('getters, proxies and false lengths of what is passed change nothing but what is passed', async () => {
    const { printed } = await js(`
      const fs = require('fs');
      let reads = 0;
      try { fs.readFileSync(new Proxy({}, { get() { throw new Error('trap'); } })); } catch (e) { console.log(e.message); }
      fs.writeFileSync('a', 'x', { get mode() { reads += 1; return 0o600; } });
      const view = new Uint8Array(4); Object.defineProperty(view, 'byteLength', { value: 1e9 });
      try { fs.writeFileSync('b', view); console.log(fs.statSync('b').size); } catch (e) { console.log(e.name); }
      try { fs.writeFileSync('c', new Proxy(Buffer.from('ab'), {})); } catch (e) { console.log(e.code); }
      Error.prepareStackTrace = () => { console.log('called'); }; console.log(typeof new Error('x').stack, reads);
      Object.prototype.toJSON = () => 'evil'; Object.prototype.code = 'EVIL'; Object.prototype.then = 1;
      fs.writeFileSync('d', 'kept'); console.log(fs.readFileSync('d', 'utf8'));`);
    expect(printed).toBe('trap\n4\nERR_INVALID_ARG_TYPE\nstring 1\nkept\n');
  });
});

describe('a program ends', () => {
  test.each([
    ['promises', 'const f = () => Promise.resolve().then(f); f();'],
    ['ticks', 'const f = () => process.nextTick(f); f();'],
    ['immediates', 'const f = () => setImmediate(f); f();'],
    ['an interval', 'setInterval(() => {}, 1);'],
    ['a long timer', 'setTimeout(() => {}, 1e9);'],
    ['a listener of its end', "process.on('exit', () => { for (;;); });"],
    ['rejections that make others', "process.on('unhandledRejection', () => Promise.reject(1)); Promise.reject(1);"],
    ['an await in a loop', '(async () => { for (;;) await 1; })();'],
  ])('endless %s end with its time', async (_title, code) => {
    expect(await js(code, { before: 'timeout 1' })).toMatchObject({ printed: '', exitCode: 124 });
  });

  test('nothing has an effect after process.exit', async () => {
    const { printed, exitCode } = await js(`
      const fs = require('fs');
      process.on('exit', () => { fs.writeFileSync('at-exit', ''); });
      const after = () => { console.log('never'); fs.writeFileSync('never', ''); };
      try { process.exit(3); } catch { after(); } finally { after(); }`);
    const { stdout } = (await box?.exec({ command: 'ls' })) ?? { stdout: '' };
    expect({ printed, exitCode, stdout }).toEqual({ printed: '', exitCode: 3, stdout: 'at-exit\nmain.js\n' });
  });

  test('a hundred thousand timers, and more than fit, are run or refused', async () => {
    const all = await js(
      'let n = 0; for (let i = 0; i < 1e5; i += 1) setTimeout(() => { n += 1; }, i % 7); process.on("exit", () => console.log(n));',
    );
    expect(all).toMatchObject({ printed: '100000\n', exitCode: 0 });
    const many = await js(
      'let e; const kept = []; try { for (;;) kept.push(setTimeout(() => {}, 1e8), "x".repeat(1e5) + kept.length); } catch (error) { e = error; } kept.length = 0; console.log(e.message); process.exit(2);',
    );
    expect(many).toMatchObject({ printed: 'out of memory\n', exitCode: 2 });
  });
});

describe('what is too much is refused and said', () => {
  test('recursion is a RangeError, and what cannot be caught ends the program alone', async () => {
    const { printed } = await js(`
      const name = (work) => { try { work(); return 'worked'; } catch (e) { return e instanceof RangeError; } };
      const text = { toString() { return String(text); } }, json = { toJSON() { return JSON.stringify(json); } };
      const proxy = new Proxy({}, { get(t, k, r) { return r[k]; } }); let deep = []; for (let i = 0; i < 1e5; i += 1) deep = [deep];
      console.log([() => (function f() { f(); })(), () => String(text), () => JSON.stringify(json), () => proxy.x, () => structuredClone(deep)].map(name).join());`);
    expect(printed).toBe('true,true,true,true,true\n');
    const ended = await js('JSON.parse("[".repeat(500000));');
    expect(ended.exitCode).toBe(1);
    expect(ended.stderr).not.toBe('');
    expect(await js('console.log("goes on")')).toMatchObject({ printed: 'goes on\n', exitCode: 0 });
  });

  test('a file over the limit is EFBIG and keeps what it had, and memory has an end', async () => {
    const { printed } = await js(`
      const fs = require('fs'); const part = Buffer.alloc(15 * 2 ** 20, 1); let failed = '';
      for (let i = 0; i < 6 && failed === ''; i += 1) try { fs.appendFileSync('big', part); } catch (e) { failed = e.code; }
      console.log(failed, fs.statSync('big').size / 2 ** 20); fs.unlinkSync('big');
      try { new Uint8Array(2 ** 30); } catch (e) { console.log(e.message); } try { 'x'.repeat(2 ** 30); } catch (e) { console.log(e.name); }`);
    expect(printed).toBe('EFBIG 60\nout of memory\nRangeError\n');
  });

  test('bytes and halves of surrogate pairs go through files as in Node', async () => {
    const { printed } = await js(`
      const fs = require('fs'); const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
      fs.writeFileSync('all', all); fs.writeFileSync('half', 'a\\ud800b\\0c'); fs.writeFileSync('\\ufeffname', '\\ufefftext');
      console.log(fs.readFileSync('all').equals(all), fs.readFileSync('all', 'latin1') === all.toString('latin1'), fs.readFileSync('half').toString('hex'), fs.readFileSync('\\ufeffname', 'utf8').length, fs.readdirSync('.').length);`);
    expect(printed).toBe('true true 61efbfbd620063 5 4\n');
  });

  test('a program without a handler for what it throws says what it threw, whatever that is', async () => {
    for (const thrown of [
      'null',
      'Symbol("s")',
      'new Proxy({}, { get() { throw 1; } })',
      '{ get message() { throw 2; }, [Symbol.for("nodejs.util.inspect.custom")]() { throw 3; } }',
      'Object.assign(new Error("e"), { name: { toString() { throw 4; } } })',
    ]) {
      const { exitCode, stderr } = await js(`console.log('on'); throw (${thrown});`);
      expect([thrown, exitCode, stderr.length > 3]).toEqual([thrown, 1, true]);
    }
  });
});
