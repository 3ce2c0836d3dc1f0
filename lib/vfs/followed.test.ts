/** Where reads from outside lead through links, and which names a new entry may have. */
import { expect, test } from 'vitest';
import { answerPeek, answerRead } from './answer.ts';
import { bytes, codeOf, liveVfs, text, vfsPath } from './testing/tmp-files.ts';

test('11. a read from outside follows links of files and folders in its volume, and no other', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/src/lib/a'), bytes('alpha'));
  vfs.put(vfsPath('/kept'), bytes('memory'), 'memory');
  for (const [path, target] of [
    ['/link', 'src/lib/a'],
    ['/src/up', '../link'],
    ['/folder', '/workspace/src/lib'],
    ['/other', '../memory/kept'],
    ['/memory', '/memory'],
    ['/back', '../workspace/src/lib/a'],
    ['/out', '/etc/passwd'],
    ['/high', '../../../../etc/passwd'],
    ['/nowhere', 'src/none'],
    ['/circle', 'circle'],
    ['/long', `${'d/'.repeat(500)}x`],
  ] as const)
    vfs.link(vfsPath(path), target);
  const read = (path: string) => {
    const request = { op: 'get', volume: 'workspace', path: vfsPath(path) } as const;
    const whole = answerRead(vfs, request);
    expect(answerPeek(vfs, request, 100)).toEqual(whole);
    const stat = answerRead(vfs, { ...request, op: 'stat' });
    if (whole.op !== 'get' || stat.op !== 'stat') throw new Error('Another answer.');
    expect(stat.stat).toEqual(whole.stat);
    return whole.content && text(whole.content);
  };
  expect(['/link', '/src/up', '/folder/a', '/back'].map(read)).toEqual(['alpha', 'alpha', 'alpha', 'alpha']);
  for (const path of [
    '/other',
    '/memory/kept',
    '/out',
    '/high',
    '/nowhere',
    '/circle',
    '/long',
    '/folder',
    '/link/a',
    '/long/y',
  ])
    expect(read(path)).toBeNull();
  const range = { start: 1, end: 2 };
  expect(answerRead(vfs, { op: 'get', volume: 'workspace', path: vfsPath('/link'), range })).toMatchObject({
    stat: { size: 5 },
    content: bytes('lp'),
  });
});

test('5. a new name has at most 255 bytes, and a longer one that is there stays in use', () => {
  const vfs = liveVfs();
  const [most, long] = ['é'.repeat(127), 'é'.repeat(128)];
  vfs.put(vfsPath(`/${most}/${most}`), bytes('x'));
  const changes = [
    () => vfs.put(vfsPath(`/${long}`), bytes('x')),
    () => vfs.put(vfsPath(`/${long}/deep`), bytes('x')),
    () => vfs.mkdir(vfsPath(`/a/${long}/b`), 'workspace', { recursive: true }),
    () => vfs.link(vfsPath(`/${long}`), 'x'),
    () => vfs.move({ volume: 'workspace', path: vfsPath(`/${most}`) }, { volume: 'tmp', path: vfsPath(`/${long}`) }),
  ];
  expect(changes.map(codeOf)).toEqual(changes.map(() => 'validation'));
  // As a file of before has it.
  const [folder, file] = [vfsPath(`/${long}`), vfsPath(`/${long}/${long}`)];
  vfs.db.prepare('INSERT INTO vfs VALUES (?, ?, ?, ?)').run('workspace', file, bytes('old'), 1);
  vfs.put(file, bytes('new'));
  vfs.put(vfsPath(`${folder}/more`), bytes('x'));
  expect(text(vfs.get(file))).toBe('new');
  vfs.move({ volume: 'workspace', path: file }, { volume: 'workspace', path: vfsPath('/short') });
  vfs.delete(folder, 'workspace', { recursive: true });
  expect(vfs.readdir(vfsPath('/')).map(({ path }) => path)).toEqual(['/short', `/${most}`]);
});
