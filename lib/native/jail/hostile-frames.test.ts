import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { startFrame } from './command-frames.ts';
import { JailCommands } from './commands.ts';

/** Numbers by chance, the same ones in each run (mulberry32). */
function chance(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const frame = (kind: number, run: number, payload: Uint8Array) => {
  const header = Buffer.alloc(9);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(run >>> 0, 1);
  header.writeUInt32BE(payload.length, 5);
  return Buffer.concat([header, payload]);
};
const READY = frame(1, 0, Buffer.alloc(0));

/** A jail whose first process is this test, with one command that runs. */
function taken() {
  const channel = { input: new PassThrough(), output: new PassThrough() };
  channel.input.resume();
  const ended: number[] = [];
  const printed: string[] = [];
  const commands = new JailCommands(channel, async (pid) => {
    ended.push(pid);
  });
  const run = (signal?: AbortSignal) =>
    commands.run({
      argv: ['x'],
      cwd: '/',
      env: {},
      onOutput: (stream, bytes) => void printed.push(`${stream} ${bytes.length}`),
      ...(signal === undefined ? {} : { signal }),
    });
  const settled = async () => {
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate);
  };
  return { channel, commands, run, ended, printed, settled };
}

test('what a jail sends that is no frame, or of no run, ends its channel: its commands fail, and nothing else happens', async () => {
  const lies: Record<string, Buffer> = {
    'an unknown kind': frame(0, 1, Buffer.alloc(0)),
    'a kind of the future': frame(9, 1, Buffer.alloc(0)),
    'a frame of 4 GB': Buffer.from([2, 0, 0, 0, 1, 255, 255, 255, 255]),
    'a frame that is a byte too long': Buffer.from([2, 0, 0, 0, 1, 0, 1, 0, 1]),
    'a run that never was': frame(2, 7, Buffer.from('x')),
    'a run 0': frame(2, 0, Buffer.from('x')),
    'ready again': READY,
    'output without bytes': frame(2, 1, Buffer.alloc(0)),
    'half an end': frame(4, 1, Buffer.from([0])),
    'a signal that is none': frame(4, 1, Buffer.from([0, 200])),
    'a failed step that is none': frame(5, 1, Buffer.from([9, 0, 2])),
    'a first process': frame(7, 1, Buffer.from([0, 0, 0, 1])),
    'room for input that there is not': frame(6, 1, Buffer.from([255, 255, 255, 255])),
    'more output than was asked for': Buffer.concat(Array.from({ length: 5 }, () => frame(2, 1, Buffer.alloc(65_536)))),
  };
  for (const [name, lie] of Object.entries(lies)) {
    const { channel, commands, run, ended } = taken();
    channel.output.write(READY);
    await commands.ready;
    const running = run();
    channel.output.write(lie);
    await expect(running, name).rejects.toMatchObject({ code: 'conflict' });
    expect((await commands.broken).message, name).toContain('protocol');
    await expect(run()).rejects.toMatchObject({ code: 'conflict' });
    expect([ended, commands.running], name).toEqual([[], 0]);
  }
});

test('of twenty thousand drawn frames none crashes the server, prints more than it may, or ends what it was not asked to', async () => {
  const draw = chance(20_261_130);
  let broken = 0;
  let whole = 0;
  const channels = Number(process.env.WB_JAIL_FRAMES ?? 800);
  for (let round = 0; round < channels; round += 1) {
    const { channel, commands, run, ended, printed, settled } = taken();
    channel.output.write(READY);
    const running = run().then(
      () => 'ended',
      () => 'failed',
    );
    for (let sent = 0; sent < 25; sent += 1) {
      const payload = Buffer.from(Array.from({ length: draw(12) }, () => draw(256)));
      const isFrame = draw(50) > 0;
      const bytes = isFrame
        ? frame(draw(30) === 0 ? draw(256) : 2 + draw(6), draw(20) === 0 ? draw(2 ** 32) : 1, payload)
        : payload;
      // Cut anywhere.
      const cut = draw(bytes.length + 1);
      channel.output.write(bytes.subarray(0, cut));
      channel.output.write(bytes.subarray(cut));
    }
    await settled();
    const isBroken = (await Promise.race([commands.broken, Promise.resolve(null)])) !== null;
    broken += isBroken ? 1 : 0;
    whole += isBroken ? 0 : 1;
    // Nobody asked for an end.
    expect(ended).toEqual([]);
    expect(printed.every((line) => /^(stdout|stderr) [1-9]\d?$/.test(line))).toBe(true);
    commands.close(new Error('over'));
    expect(['ended', 'failed']).toContain(await running);
  }
  expect(broken).toBeGreaterThan(channels / 10);
  expect(broken + whole).toBe(channels);
});

test('a cancelled command is ended by the id that its jail said for it, once, and by none that came later', async () => {
  const { channel, commands, run, ended, settled } = taken();
  channel.output.write(READY);
  await commands.ready;
  const abort = new AbortController();
  const running = run(abort.signal);
  channel.output.write(frame(7, 1, Buffer.from([0, 0, 0, 9])));
  channel.output.write(frame(7, 1, Buffer.from([0, 0, 0, 8])));
  await settled();
  abort.abort();
  await settled();
  expect(ended).toEqual([9]);
  channel.output.write(frame(4, 1, Buffer.from([0, 9])));
  expect(await running).toEqual({ exitCode: null, signal: 'SIGKILL', ended: 'cancelled' });
  // What comes for it afterwards is of no run any more.
  channel.output.write(Buffer.concat([frame(2, 1, Buffer.from('late')), frame(4, 1, Buffer.from([0, 0]))]));
  await settled();
  expect(commands.running).toBe(0);
  expect(await Promise.race([commands.broken, Promise.resolve('whole')])).toBe('whole');
});

test('frames that are cut into single bytes are the same, and a command is sent as its texts are', async () => {
  const { channel, commands, run, printed } = taken();
  const all = Buffer.concat([
    READY,
    frame(7, 1, Buffer.from([0, 0, 0, 9])),
    frame(2, 1, Buffer.from('abc')),
    frame(3, 1, Buffer.from('de')),
    frame(4, 1, Buffer.from([3, 0])),
  ]);
  const running = run();
  for (const byte of all) channel.output.write(Buffer.from([byte]));
  expect(await running).toEqual({ exitCode: 3, signal: null, ended: 'by_itself' });
  expect(printed).toEqual(['stdout 3', 'stderr 2']);
  await commands.ready;
  const sent = startFrame(5, { argv: ['ä', ''], cwd: '/', env: ['A=b'] });
  expect(sent.subarray(9).toString('latin1')).toBe(
    Buffer.from('\0\0\0\x01/\0\0\0\x012\0\0\0\x02ä\0\0\0\0\0\0\0\x03A=b').toString('latin1'),
  );
});
