import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { NO_PROCESS } from '../../base/started-process-id.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, observeOpens, REQUEST } from '../testing/test-engine.ts';

const at = stage();

const ways: [string, (file: string) => void][] = [
  ['removed', (file) => rmSync(file)],
  ['removed with its log', (file) => ['', '-wal', '-shm'].map((suffix) => rmSync(file + suffix))],
  ['removed with its folder', (file) => rmSync(dirname(file), { recursive: true })],
  ['left without its log', (file) => rmSync(`${file}-wal`)],
  ['moved away with its folder', (file) => renameSync(dirname(file), `${dirname(dirname(dirname(file)))}/elsewhere`)],
  [
    'replaced by an older copy',
    (file) => {
      cpSync(`${file}.older`, `${file}.new`);
      renameSync(`${file}.new`, file);
    },
  ],
];

/** An awake sandbox with something in its file, something in its log and something large. */
async function awake(id: string): Promise<string> {
  await at.dock.create(id);
  await at.dock.put(id, '/first', 'first');
  await at.dock.sandboxes.suspend(id, REQUEST);
  const file = liveFile(at.dock, id);
  cpSync(file, `${file}.older`);
  await at.dock.put(id, '/large', 'l'.repeat(3_000_000));
  for (let n = 0; n < 20; n += 1) await at.dock.run(id, `echo line ${n} >> log`);
  return file;
}

const expectAll = async (id: string) => {
  expect(await at.dock.get(id, '/first')).toBe('first');
  expect((await at.dock.get(id, '/large'))?.length).toBe(3_000_000);
  expect((await at.dock.get(id, '/log'))?.trim().split('\n')).toEqual(
    Array.from({ length: 20 }, (_, n) => `line ${n}`),
  );
};

test.each(ways)(
  'a live file that is %s is restored under its process, and the sandbox continues',
  async (_how, lose) => {
    const file = await awake('a');
    lose(file);
    await at.dock.sandboxes.tick();
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null, pending: null });
    await expectAll('a');
    expect((await at.dock.registry.ledger.page({ instance: 'a', type: 'file.rescued' }, 10)).rows).toHaveLength(1);
    await at.dock.run('a', 'echo more > more');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    await expectAll('a');
    expect(await at.dock.get('a', '/more')).toBe('more\n');
  },
);

test('a suspension, a stop and an archiving before the check save the file too', async () => {
  for (const id of ['suspended', 'archived', 'stopped']) rmSync(await awake(id));
  await at.dock.sandboxes.suspend('suspended', REQUEST);
  await at.dock.sandboxes.archive('archived', REQUEST, { force: true });
  await at.restart();
  for (const id of ['suspended', 'archived', 'stopped']) {
    expect((await at.dock.registry.instances.get(id))?.fault, id).toBeNull();
    await expectAll(id);
  }
});

test('an awake sandbox whose folder is away at the start after a kill has all that was answered once it is back', async () => {
  const folder = dirname(await awake('away'));
  const elsewhere = `${at.folder}-elsewhere`;
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  // As the kill leaves it: the file, and what is only in its log.
  cpSync(folder, elsewhere, { recursive: true });
  expect(statSync(join(elsewhere, 'vfs.sqlite-wal')).size).toBeGreaterThan(0);
  await at.dock.abandon();
  rmSync(folder, { recursive: true });
  await at.restart();
  expect(await at.dock.registry.instances.get('away')).toMatchObject({ state: 'suspended', fault: 'missing' });
  await at.dock.stop();
  rmSync(folder, { recursive: true, force: true });
  cpSync(elsewhere, folder, { recursive: true });
  await at.restart();
  await at.dock.sandboxes.resume('away', REQUEST, { force: true });
  await expectAll('away');
  expect((await at.dock.registry.ledger.page({ instance: 'away', type: 'orphan.set_aside' }, 10)).rows).toEqual([]);
});

test('a foreign file in its place is kept as an orphan', async () => {
  const file = await awake('a');
  rmSync(file);
  writeFileSync(file, 'something else');
  await at.dock.sandboxes.tick();
  await expectAll('a');
  expect(readdirSync(join(at.folder, 'orphans')).some((name) => name.includes('vfs.sqlite'))).toBe(true);
  // It enters that mode once the call that came with the wake is done.
  await expect.poll(() => existsSync(`${file}-wal`)).toBe(true);
});

test('what is saved lies in the live drawer’s staging folder until it has its place, and is an orphan when it gets none', async () => {
  onTestFinished(() => observeEffects(null));
  const file = await awake('a');
  const staging = join(at.folder, 'live', '.staging');
  const saved: string[] = [];
  let fails = true;
  rmSync(file);
  observeEffects({
    before(effect) {
      // A folder that no landing looks into, on the filesystem of the file.
      if (effect.kind === 'copy' && effect.to !== undefined) saved.push(dirname(effect.to));
      if (effect.kind !== 'rename' || effect.to !== file || !fails) return;
      fails = false;
      throw Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO' });
    },
  });
  await at.dock.sandboxes.tick();
  expect(fails).toBe(false);
  expect(readdirSync(staging)).toEqual([]);
  expect(new Set(saved)).toEqual(new Set([staging]));
  // Its process has ended: this is all that is left of what it had acknowledged.
  const orphans = readdirSync(join(at.folder, 'orphans')).map((name) => readFileSync(join(at.folder, 'orphans', name)));
  expect(Buffer.concat(orphans).includes('line 19')).toBe(true);
  expect((await at.dock.registry.ledger.page({ instance: 'a', type: 'orphan.set_aside' }, 10)).rows).toHaveLength(1);
});

test('the check changes nothing when no file is lost', async () => {
  await awake('a');
  await at.dock.run('a', 'echo t > /tmp/t');
  await at.dock.sandboxes.tick();
  expect(await at.dock.run('a', 'cat /tmp/t')).toBe('t\n');
});

test.runIf(process.platform === 'linux')(
  'a file is saved while another process of its sandbox still starts',
  async () => {
    const slow = join(at.folder, 'slow');
    // As a wrapper: it begins the worker, late where it is told to, and waits for it.
    const wrapper = `select(undef, undef, undef, 3) if -e '${slow}'; my $worker = fork; exec { $ARGV[0] } @ARGV if !$worker;
    waitpid($worker, 0)`;
    await at.restart({ walls: { command: ['/usr/bin/perl', '-e', wrapper, '--'], isWrapped: true, user: null } });
    const opened: InstanceProcess[] = [];
    observeOpens(at.dock.pool, (opening) => opened.push(opening));
    const file = await awake('a');
    writeFileSync(slow, '');
    const first = at.dock.run('a', 'sleep 60');
    await expect.poll(() => opened.at(-1)?.members[0]?.busy).toBe(true);
    const second = at.dock.sandboxes.eval('a', { language: 'js', code: '1' }, REQUEST);
    const calls = Promise.allSettled([first, second]);
    await expect.poll(() => opened.at(-1)?.members.map(({ pid }) => pid === NO_PROCESS)).toEqual([false, true]);
    rmSync(file);
    await at.dock.sandboxes.archive('a', REQUEST, { force: true });
    expect((await at.dock.registry.ledger.page({ instance: 'a', type: 'file.rescued' }, 10)).rows).toHaveLength(1);
    await calls;
    rmSync(slow);
    expect((await at.dock.registry.instances.get('a'))?.fault).toBeNull();
    await expectAll('a');
  },
);
