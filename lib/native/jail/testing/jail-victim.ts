/**
 * A server that is killed: it opens jails, runs commands in them, freezes and thaws them and closes them, without end.
 * Arguments: a folder, the user's id or -1, a descriptor that must not be seen. Prints a line when a jail is open.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Jail } from '../jail.ts';
import { JailGroups } from '../jail-groups.ts';

const [folder = '', user = '-1'] = process.argv.slice(2);
const uid = Number(user);
const { groups } = JailGroups.open();
if (groups === null) throw new Error('no groups');
const at = (name: string) => {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
};
const folders = { workspace: at('workspace'), memory: at('memory'), tmp: at('tmp') };
const env = { PATH: '/usr/bin:/bin' };
for (let round = 0; ; round += 1) {
  const jail = await Jail.open(
    { id: `victim-${round}`, root: '/', folders, user: uid < 0 ? null : { uid, gid: uid }, sharedMemoryBytes: 1 << 20 },
    groups,
    { memoryBytes: 1 << 28, processes: 50, processors: 2 },
  );
  const run = async (script: string) => {
    let printed = '';
    await jail.run({
      argv: ['/bin/bash', '-c', script],
      cwd: '/',
      env,
      onOutput: (_, bytes) => {
        printed += bytes;
      },
    });
    return printed;
  };
  process.stdout.write(
    `open ${jail.processes.join(' ')}\n${await run('ls /proc/self/fd; (while :; do :; done) & true')}`,
  );
  await run('setsid sleep 1000 & sleep 0.05');
  await jail.freeze();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await jail.thaw();
  await run('true');
  await jail.close();
}
