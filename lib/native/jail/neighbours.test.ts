import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callNumber, callsScript, EAFNOSUPPORT, EPERM, errnosOf, only, perl } from './testing/attacks.ts';
import { JAIL_USER, jailStage, NO_JAIL, type StagedJail, saysWhyNot } from './testing/jail-stage.ts';

saysWhyNot('lib/native/jail/neighbours.test.ts');
const stage = jailStage();
const SECRET = `secret-${Math.random()}`;

describe.runIf(NO_JAIL === null)('from inside a jail', () => {
  let bash: StagedJail['bash'];
  /** Outside: a process of the same user, and servers that listen. */
  let neighbour: ChildProcess;
  const servers: Server[] = [];
  let connections = 0;

  beforeAll(async () => {
    ({ bash } = await stage.open());
    const user =
      JAIL_USER === null ? [] : ['setpriv', `--reuid=${JAIL_USER.uid}`, `--regid=${JAIL_USER.gid}`, '--clear-groups'];
    const [file = '', ...args] = [...user, 'sleep', '1000'];
    neighbour = spawn(file, args, { stdio: 'ignore', env: { NODE_ENV: 'test', PATH: '/usr/bin:/bin', SECRET } });
    for (const place of [{ port: 0, host: '127.0.0.1' }, { path: `\0winterdock-${process.pid}` }]) {
      const server = createServer((socket) => {
        connections += 1;
        socket.end(SECRET);
      });
      server.listen(place);
      await once(server, 'listening');
      servers.push(server);
    }
  });
  afterAll(() => {
    neighbour?.kill('SIGKILL');
    for (const server of servers) server.close();
  });

  test('a signal reaches no process outside and not the first one, and none can be traced or read', async () => {
    const ran = await bash(`kill -KILL ${neighbour.pid} && echo signalled; kill -KILL 1; kill -STOP 1; echo lives`);
    expect(ran.stdout).toBe('lives\n');
    // Everybody whom a guest can signal: itself and its like.
    await bash('setsid bash -c "kill -KILL -1"').catch(() => {});
    const script = `sleep 1000 & echo $!`;
    const other = (await bash(script)).stdout.trim();
    const attach = callsScript([
      ['attach', callNumber('ptrace'), 16, Number(other)],
      ['seize', callNumber('ptrace'), 0x4206, 1],
      ['traceme', callNumber('ptrace'), 0],
      ['read', callNumber('process_vm_readv'), Number(other)],
    ]);
    expect(errnosOf(await bash(attach))).toEqual(only(EPERM, ['attach', 'seize', 'traceme', 'read']));
    expect(neighbour.exitCode).toBeNull();
    expect(neighbour.signalCode).toBeNull();
    expect((await bash('echo still here')).stdout).toBe('still here\n');
  });

  test('no socket reaches another machine, this one, the one around it, or a name without a file', async () => {
    const port = portOf(servers[0]);
    const abstract = `\\0winterdock-${process.pid}`;
    const ran = await bash(
      perl(`use Socket; my %to = (tcp => [2, pack_sockaddr_in(${port}, inet_aton("127.0.0.1"))], abstract => [1, pack_sockaddr_un("${abstract}")], far => [2, pack_sockaddr_in(80, inet_aton("192.0.2.1"))]);
        for my $name (sort keys %to) { socket(my $s, $to{$name}[0], SOCK_STREAM, 0) or die; print "$name connected\\n" if connect $s, $to{$name}[1] } print "tried\\n"`),
    );
    expect(ran.stdout).toBe('tried\n');
    expect(connections).toBe(0);
    expect((await bash('cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "')).stdout).toBe('lo\n');
    const socket = callNumber('socket');
    const families = {
      vsock: 40,
      packet: 17,
      alg: 38,
      xdp: 44,
      bluetooth: 31,
      can: 29,
      tipc: 30,
      rds: 21,
      kcm: 41,
      qipcrtr: 42,
      smc: 43,
      ax25: 3,
      x25: 9,
      key: 15,
    };
    const calls = Object.entries(families).map(([name, family]) => [name, socket, family, 1] as const);
    expect(errnosOf(await bash(callsScript(calls)))).toEqual(only(EAFNOSUPPORT, Object.keys(families)));
    const kinds = {
      raw: [2, 3, 1],
      raw6: [10, 3, 58],
      rawtcp: [2, 3, 6],
      sctp: [2, 1, 132],
      mptcp: [2, 1, 262],
      icmp: [2, 2, 1],
    } as const;
    const raw = Object.entries(kinds).map(([name, args]) => [name, socket, ...args] as const);
    expect(errnosOf(await bash(callsScript(raw)))).toEqual(only(EPERM, Object.keys(kinds)));
    expect(
      errnosOf(
        await bash(
          callsScript([
            ['netfilter', socket, 16, 3, 12],
            ['audit', socket, 16, 3, 9],
          ]),
        ),
      ),
    ).toEqual(only(EAFNOSUPPORT, ['netfilter', 'audit']));
  });
});

function portOf(server: Server | undefined): number {
  const address = server?.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
