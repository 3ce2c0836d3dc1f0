import { cwd } from 'node:process';
import { describe, expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';

const { open } = stage();
const COUNTER = `n = 0
def run(input):
    global n
    n += 1
    return {"n": n}
def get_state():
    return n
def set_state(value):
    global n
    n = value
`;

describe('Python components', () => {
  test('run(input) gives the output; memory lives between the calls of one start, in milliseconds', async () => {
    const process = open('py-call');
    const counter = componentOf('python', COUNTER);
    expect((await callOne(process, counter)).value).toEqual({ n: 1 });
    const times: number[] = [];
    for (let at = 2; at < 12; at += 1) {
      const { value, result } = await callOne(process, counter);
      expect(value).toEqual({ n: at });
      times.push(result.tookMs);
    }
    expect(Math.min(...times)).toBeLessThan(30);
    const echo = componentOf('python', 'def run(input):\n    print("got", input["a"])\n    return input\n', {
      path: 'main/echo',
    });
    const echoed = await callOne(process, echo, { a: 'ü\u0000"' });
    expect(echoed.value).toEqual({ a: 'ü\u0000"' });
    expect(echoed.logs).toBe('got ü\u0000"\n');
    await process.close({ drainMs: 1000, force: false });
    const again = open('py-call');
    expect((await callOne(again, counter)).value).toEqual({ n: 1 });
    await again.kill('killed');
  });

  test('with :persist it goes on after a kill; what set_state refuses stays', async () => {
    const durable = componentOf('python', COUNTER, { persist: 'state' });
    const first = open('py-persist');
    expect((await callOne(first, durable)).value).toEqual({ n: 1 });
    await first.kill('killed');
    const second = open('py-persist');
    expect((await callOne(second, durable)).value).toEqual({ n: 2 });
    const refuses = componentOf('python', `${COUNTER}\ndef set_state(value):\n    raise ValueError("what is this")\n`, {
      persist: 'state',
    });
    expect((await callOne(second, refuses)).result.error).toMatchObject({
      kind: 'state',
      message: expect.stringContaining('ValueError: what is this'),
    });
    expect((await callOne(second, durable)).value).toEqual({ n: 3 });
    await second.kill('killed');
  });

  test('nothing that a component can ask its interpreter names a path of the machine', async () => {
    const process = open('py-paths');
    const asking = componentOf(
      'python',
      `import os, sys
def run(input):
    frames = [name for name in vars(sys) if not name.startswith("__")]
    return {"env": dict(os.environ), "sys": {name: repr(getattr(sys, name)) for name in frames},
            "file": globals().get("__file__")}
`,
    );
    const { value, result } = await callOne(process, asking);
    expect(result.error).toBeUndefined();
    expect(value).toMatchObject({ env: { HOME: '/home/web_user' } });
    expect(JSON.stringify(value)).not.toContain(cwd());
    await process.kill('killed');
  });

  test('vfs is there when declared; other files are not', async () => {
    const process = open('py-vfs');
    const source = `def run(input):
    vfs.put("/a.txt", "text ü")
    vfs.put("/b", bytes([0, 255]), "tmp")
    return [vfs.get("/a.txt"), list(vfs.get_bytes("/b", "tmp")), vfs.get("/none"), vfs.list("/a"), vfs.delete("/none"),
            vfs.query("SELECT count(*) AS n FROM vfs WHERE path = ?", ["/a.txt"])["rows"]]
`;
    const { value, result } = await callOne(process, componentOf('python', source, { uses: ['vfs'] }));
    expect(result.error).toBeUndefined();
    expect(value).toEqual(['text ü', [0, 255], null, ['/a.txt'], false, [[1]]]);
    expect((await process.exec({ command: 'cat a.txt' })).stdout).toBe('text ü');
    expect((await callOne(process, componentOf('python', source))).result.error).toMatchObject({ kind: 'capability' });
    const opens = componentOf('python', 'def run(input):\n    return open("/workspace/a.txt").read()\n', {
      path: 'main/opens',
    });
    expect((await callOne(process, opens)).result.error?.message).toContain('FileNotFoundError');
    await process.kill('killed');
  });

  test('errors have the traceback of the component alone', async () => {
    const process = open('py-errors');
    const { result } = await callOne(process, componentOf('python', 'def run(input):\n    return 1 / 0\n'));
    expect(result.error).toEqual({ kind: 'component', message: expect.stringContaining('ZeroDivisionError') });
    expect(result.error?.message).toContain('File "main/it.py", line 2, in run');
    expect(result.error?.message).not.toContain('_winterdock');
    const message = async (source: string) =>
      (await callOne(process, componentOf('python', source, { path: 'main/other' }))).result.error?.message;
    expect(await message('x = 1')).toBe('It defines no function run(input).');
    expect(await message('def run(input):\n  return {1, 2}')).toContain('nothing that JSON has');
    expect(await message('def run(input:')).toContain('SyntaxError');
    expect(await message('import sys\ndef run(input):\n  sys.exit(3)')).toContain('SystemExit: 3');
    await process.kill('killed');
  });
});

describe('hostile Python', () => {
  test('one that never ends is ended with its interpreter, and what is lost is said', async () => {
    const process = open('py-endless');
    const counter = componentOf('python', COUNTER, { path: 'main/counter' });
    const durable = componentOf('python', COUNTER, { path: 'main/durable', persist: 'state' });
    await callOne(process, counter);
    await callOne(process, durable);
    const endless = componentOf('python', 'def run(input):\n    while True: pass\n');
    const { result } = await callOne(process, endless, {}, { timeoutMs: 500 });
    expect(result.error).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('main/counter, main/durable'),
    });
    expect((await callOne(process, counter)).value).toEqual({ n: 1 });
    expect((await callOne(process, durable)).value).toEqual({ n: 2 });
    await process.kill('killed');
  });

  test('one that allocates, prints or leaves its interpreter is contained', async () => {
    const process = open('py-greedy');
    const greedy = componentOf(
      'python',
      'def run(input):\n    all = []\n    while True: all.append(bytearray(4_000_000))\n',
    );
    expect((await callOne(process, greedy)).result.error?.kind).toBe('memory');
    const prints = componentOf('python', 'def run(input):\n    while True: print("x" * 1000)\n', {
      path: 'main/prints',
    });
    const printed = await callOne(process, prints, {}, { timeoutMs: 3000 });
    expect(printed.result.error?.kind).toBe('timeout');
    expect(printed.logs.length).toBeLessThan(1.1 * 1024 * 1024);
    const leaves = componentOf('python', 'import os\ndef run(input):\n    os._exit(0)\n', { path: 'main/leaves' });
    expect((await callOne(process, leaves)).result.error?.kind).toBe('component');
    expect((await callOne(process, componentOf('python', COUNTER))).value).toEqual({ n: 1 });
    await process.kill('killed');
  });
});
