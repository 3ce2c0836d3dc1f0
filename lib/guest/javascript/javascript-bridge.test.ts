import { expect, test } from 'vitest';
import type { EvalOutcome, InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

/** Values that cross between JavaScript in a sandbox and its host: real processes, real files. */
const at = stage();

const js = (process: InstanceProcess, code: string): Promise<EvalOutcome> => process.eval({ language: 'js', code });

/** Every code unit that a C string, a decoder or an encoder could lose. */
const HARD = 'a\0b\u{1f600}\ufeff\ufffd\u00ff\0';

test('a string crosses unchanged: NUL, byte order marks and replacement characters, as content, path, output, value and error', async () => {
  const a = at.open('whole');
  const text = JSON.stringify(HARD);
  for (const [code, value] of [
    [`vfs.put('/f', ${text}); vfs.get('/f')`, HARD],
    [`vfs.put('/f', '\\ufeff' + ${text}); vfs.get('/f')`, `\ufeff${HARD}`],
    [`vfs.put('/f', ''); vfs.get('/f')`, ''],
    [`vfs.put('/\\ufeff${'\u00ff'}', 'x'); vfs.list('/\\ufeff')`, ['/\ufeff\u00ff']],
    [`vfs.query('SELECT ?1 AS a', ['\\ufeffa']).rows`, [['\ufeffa']]],
    [
      `try { vfs.get('\\ufeff\\0') } catch (error) { error.message }`,
      'The path "\ufeff\\u0000" must begin with a slash.',
    ],
    [text, HARD],
    ['"\\ud800\\0"', '\ud800\0'],
    [`${text}.length`, HARD.length],
  ] as const) {
    expect([code, await js(a, code)]).toEqual([code, expect.objectContaining({ ok: true, value })]);
  }
  expect((await js(a, `console.log('\\ufeff' + ${text}); console.error(${text})`)).stdout).toBe(`\ufeff${HARD}\n`);
  expect((await js(a, `console.error(${text})`)).stderr).toBe(`${HARD}\n`);
  expect(await js(a, `throw new Error(${text})`)).toMatchObject({
    ok: false,
    error: expect.stringContaining(`Error: ${HARD}`),
  });
  expect(await js(a, `throw ${text}`)).toMatchObject({ ok: false, error: `Uncaught ${HARD}` });
  expect(await js(a, 'throw { code: 4 }')).toMatchObject({ ok: false, error: 'Uncaught {"code":4}' });
});

test('a path with NUL or a lone surrogate is refused, and the file at the truncated path is unchanged', async () => {
  const a = at.open('paths');
  expect(await js(a, `vfs.put('/victim', 'kept')`)).toMatchObject({ ok: true });
  for (const call of [
    `put('/victim?', 'changed')`,
    `put('/victim?', new Uint8Array(3))`,
    `get('/victim?')`,
    `getBytes('/victim?')`,
    `delete('/victim?')`,
  ]) {
    for (const [mark, why] of [
      ['\\0x', 'must not contain NUL'],
      ['\\ud800', 'must be valid Unicode'],
    ] as const) {
      const outcome = await js(a, `vfs.${call.replace('?', mark)}`);
      expect([call, outcome]).toEqual([
        call,
        expect.objectContaining({ ok: false, error: expect.stringContaining(why) }),
      ]);
    }
  }
  expect(await js(a, `vfs.get('/victim') + vfs.list('').length`)).toMatchObject({ value: 'kept1' });
  expect(await js(a, `vfs.list('/vic\\0')`)).toMatchObject({ ok: true, value: [] });
  expect(await js(a, `vfs.query('SELECT 1 \\0 garbage')`)).toMatchObject({ error: expect.stringContaining('NUL') });
});

test('a lone surrogate is refused as content and escaped in output, and bytes that are not UTF-8 are not read as text', async () => {
  const a = at.open('halves');
  for (const text of ['\\ud800', 'a\\udc00b', '\\udc00\\ud800']) {
    const outcome = await js(a, `vfs.put('/f', '${text}')`);
    expect([text, outcome]).toEqual([
      text,
      expect.objectContaining({ ok: false, error: expect.stringContaining('half a surrogate pair') }),
    ]);
  }
  expect(await js(a, `vfs.get('/f')`)).toMatchObject({ value: null });
  expect((await js(a, `console.log('x\\ud800y\\u{1f600}')`)).stdout).toBe('x\\ud800y\u{1f600}\n');
  const binary = await js(a, `vfs.put('/b', new Uint8Array([255, 0, 254])); vfs.get('/b')`);
  expect(binary).toMatchObject({ ok: false, error: expect.stringContaining('not UTF-8 text') });
  expect(await js(a, `[...vfs.getBytes('/b')]`)).toMatchObject({ value: [255, 0, 254] });
});

test('a typed array view stores only its own bytes, and a long text crosses whole in pieces', async () => {
  const a = at.open('views');
  const view = `const all = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]); vfs.put('/v', VIEW); [...vfs.getBytes('/v')]`;
  for (const [code, value] of [
    ['all', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['all.buffer', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['all.subarray(2, 4)', [3, 4]],
    ['new DataView(all.buffer, 6)', [7, 8]],
    ['new Uint16Array(all.buffer, 2, 1)', [3, 4]],
    ['all.subarray(8)', []],
  ] as const) {
    expect([code, (await js(a, view.replace('VIEW', code))).value]).toEqual([code, value]);
  }
  const long = await js(
    a,
    `const text = '\\u{1f600}\\0é'.repeat(700_001); vfs.put('/l', 'x' + text); const read = vfs.get('/l'); [read === 'x' + text, vfs.getBytes('/l').length]`,
  );
  expect(long).toMatchObject({ value: [true, 7 * 700_001 + 1] });
});

test('the js command passes its output on unchanged and reports what it drops', async () => {
  const a = at.open('command');
  expect((await a.exec({ command: `js -e 'console.log("\\ufeffa\\0b")'` })).stdout).toBe('\ufeffa\0b\n');
  expect(await a.exec({ command: `js -e 'throw "a\\0b"'` })).toMatchObject({ stderr: "Uncaught 'a\\x00b'\n" });
  expect((await a.exec({ command: `printf 'x\\0y' | js -e 'console.log(stdin.length)'` })).stdout).toBe('3\n');
  const bytes = await a.exec({ command: `printf 'x\\377\\0y' | js -e 'console.log(stdin + "\\ud800")' | base64` });
  expect(Buffer.from(bytes.stdout, 'base64').toString('latin1')).toBe('x\xff\0y\\ud800\n');
  const much = await a.exec({ command: `js -e 'console.log("x".repeat(5e6))' > f; echo $?` });
  expect(much).toMatchObject({ stdout: '1\n', stderr: expect.stringContaining('the rest was dropped') });
});

test('Python output arrives unchanged, and file names that are not UTF-8 are refused', async () => {
  const a = at.open('python');
  const python = (code: string) => a.eval({ language: 'python', code });
  expect((await python(`print('\\ufeffa\\0b', end='')`)).stdout).toBe('\ufeffa\0b');
  for (const [code, error] of [
    [`open('/tmp/a\\0b', 'w')`, 'ValueError: embedded null'],
    [`open('/tmp/q\\udc80', 'w')`, 'Illegal byte sequence'],
    [`import os; os.mkdir('/tmp/q\\udc80')`, 'Illegal byte sequence'],
    [`open(b'/tmp/q\\x80', 'w')`, 'Illegal byte sequence'],
    [`x = '\ud800'`, 'half a surrogate pair'],
  ] as const) {
    const outcome = await python(code);
    expect([code, outcome]).toEqual([
      code,
      expect.objectContaining({ ok: false, error: expect.stringContaining(error) }),
    ]);
  }
  expect(
    await python(`open('/tmp/\u00fc\u{1f600}', 'w').write('x'); import os; print(os.listdir('/tmp'))`),
  ).toMatchObject({
    ok: true,
    stdout: "['\u00fc\u{1f600}']\n",
  });
});

test('an evaluation whose output is truncated fails', async () => {
  const a = at.open('said');
  const much = await js(a, `console.log('x'.repeat(5_000_000))`);
  expect(much).toMatchObject({ ok: false, error: expect.stringContaining('the rest was dropped') });
  expect(much.stdout.length).toBe(4 * 1024 * 1024);
});

test('64 MiB go through vfs.put and back, as bytes and as text, in linear time', async () => {
  const a = at.open('large');
  await js(a, `vfs.put('/warm', 'x')`);
  const took = async (mib: number) => {
    const begun = a.cpuSeconds();
    const put = await js(a, `vfs.put('/f', new Uint8Array(${mib} << 20).fill(67)); 1`);
    const got = await js(a, `const b = vfs.getBytes('/f'); [b.length, b[0], b[b.length - 1]]`);
    expect([put, got]).toMatchObject([{ value: 1 }, { value: [mib << 20, 67, 67] }]);
    return a.cpuSeconds() - begun;
  };
  /** How much longer 16 times as much takes. */
  const ratio = async () => {
    const few = Math.max(await took(4), await took(4));
    return (await took(64)) / few;
  };
  // Element by element it would exceed the memory, and the process would be killed.
  const ratios = [await ratio()];
  while (ratios.length < 3 && Math.min(...ratios) >= 80) ratios.push(await ratio());
  expect(Math.min(...ratios)).toBeLessThan(80);
  const text = await js(a, `vfs.put('/t', 'é'.repeat(32 << 20)); 1`);
  const read = await js(a, `const t = vfs.get('/t'); [t.length, t.codePointAt(5)]`);
  expect([text, read]).toMatchObject([{ value: 1 }, { value: [32 << 20, 233] }]);
});

test('a value that does not fit the memory is an error that the guest can catch, and its process goes on', async () => {
  const fill = (what: string) =>
    `const kept = []; let said = ''; try { for (;;) kept.push(${what}); } catch (error) { said = String(error); } kept.length = 0; said`;
  for (const [policy, mib] of [
    ['posix', 64],
    ['minimal', 16],
  ] as const) {
    const a = at.open(`full-${policy}`, { policy });
    const put = (size: number) => js(a, `vfs.put('/f', new Uint8Array(${size} << 20).fill(67)); 1`);
    expect(await put(mib)).toMatchObject({ value: 1 });
    expect(await put(mib + 1)).toMatchObject({ ok: false, error: expect.stringContaining('too large') });
    expect(await js(a, fill(`vfs.getBytes('/f')`))).toMatchObject({ value: expect.stringContaining('out of memory') });
    expect(await js(a, fill(`new Uint8Array(9e6).fill(1)`))).toMatchObject({ ok: true });
    expect(await js(a, `vfs.getBytes('/f').length`)).toMatchObject({ value: mib << 20 });
  }
});

test('a listing of 10 050 files is complete', async () => {
  const a = at.open('many');
  const many = `for (let n = 0; n < 10_050; n += 1) vfs.put('/f' + n, ''); vfs.list('').length`;
  expect(await js(a, many)).toMatchObject({ value: 10_050 });
});
