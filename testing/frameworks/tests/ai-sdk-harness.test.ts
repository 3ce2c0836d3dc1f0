import type { HarnessV1, HarnessV1StartOptions, HarnessV1StreamPart } from '@ai-sdk/harness';
import { HarnessAgent } from '@ai-sdk/harness/agent';
import { expect, test } from 'vitest';
import { sandboxProvider } from '../../../lib/client/adapters/ai-sdk.ts';
import { PROGRAM, startTestServer } from './test-server.ts';

const TOKENS = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
const USAGE = { inputTokens: TOKENS, outputTokens: TOKENS };
const DONE = { unified: 'stop', raw: 'stop' } as const;

type Turn = (start: HarnessV1StartOptions) => Promise<string>;

/** A runtime that does one turn after the other in the sandbox that the framework gives it, without a bridge. */
function scriptedHarness(turns: Turn[]): HarnessV1 {
  const state = { harnessId: 'scripted', specificationVersion: 'harness-v1', data: {} } as const;
  return {
    specificationVersion: 'harness-v1',
    harnessId: 'scripted',
    builtinTools: {},
    getBootstrap: async () => ({
      harnessId: 'scripted',
      bootstrapDir: '/workspace/.scripted',
      files: [{ path: '/workspace/.scripted/tool.sh', content: 'echo prepared >> /workspace/.scripted/log' }],
      commands: [{ command: 'sh tool.sh' }],
    }),
    async doStart(start) {
      return {
        sessionId: start.sessionId,
        isResume: start.resumeFrom !== undefined,
        async doPromptTurn({ emit }) {
          const text = (await turns.shift()?.(start)) ?? 'nothing more to do';
          const parts: HarnessV1StreamPart[] = [
            { type: 'stream-start' },
            { type: 'text-start', id: 'a' },
            { type: 'text-delta', id: 'a', delta: text },
            { type: 'text-end', id: 'a' },
            { type: 'finish-step', finishReason: DONE, usage: USAGE },
            { type: 'finish', finishReason: DONE, totalUsage: USAGE },
          ];
          for (const part of parts) emit(part);
          return { submitToolResult: async () => undefined, done: Promise.resolve() };
        },
        doCompact: async () => undefined,
        doContinueTurn: () => Promise.reject(new Error('There is no turn to go on with.')),
        doSuspendTurn: () => Promise.reject(new Error('There is no turn to suspend.')),
        doDetach: async () => ({ ...state, type: 'resume-session' }),
        doStop: async () => ({ ...state, type: 'resume-session' }),
        doDestroy: async () => undefined,
      };
    },
  };
}

test('an agent of a harness is prepared once, works, is stopped, resumed in another process by its id, and destroyed', async () => {
  const { client, connection } = await startTestServer();
  const first = new HarnessAgent({
    harness: scriptedHarness([
      async ({ sandboxSession, sessionWorkDir }) => {
        await sandboxSession.writeTextFile({ path: `${sessionWorkDir}/numbers.txt`, content: '1\n2\n3\n' });
        await sandboxSession.writeTextFile({ path: `${sessionWorkDir}/sum.py`, content: PROGRAM });
        const at = { workingDirectory: sessionWorkDir };
        const failed = await sandboxSession.run({ command: 'python3 sum.py', ...at });
        const found = await sandboxSession.run({ command: 'grep -n totl sum.py | cut -d: -f1', ...at });
        await sandboxSession.run({ command: `sed -i '${found.stdout.trim()}s/totl/total/' sum.py`, ...at });
        const { stdout } = await sandboxSession.run({ command: 'python3 sum.py', ...at });
        return `${failed.exitCode} then ${stdout.trim()}`;
      },
    ]),
    sandbox: sandboxProvider(connection),
  });
  const session = await first.createSession({ sessionId: 'Sum-1' });
  expect((await first.generate({ session, prompt: 'Sum the numbers.' })).text).toBe('1 then total 6');
  const [instance] = (await client.listInstances()).items;
  const id = instance?.id ?? '';
  expect(instance?.state).toBe('active');
  const resumeFrom = JSON.parse(JSON.stringify(await session.stop()));
  expect((await client.getInstance(id)).state).toBe('suspended');

  const second = new HarnessAgent({
    harness: scriptedHarness([
      async ({ sandboxSession, sessionWorkDir }) => {
        const command = 'echo 4 >> numbers.txt; python3 sum.py; cat /workspace/.scripted/log';
        return (await sandboxSession.run({ command, workingDirectory: sessionWorkDir })).stdout;
      },
    ]),
    sandbox: sandboxProvider(connection),
  });
  const resumed = await second.createSession({ sessionId: 'Sum-1', resumeFrom });
  expect(resumed.isResume).toBe(true);
  expect((await second.generate({ session: resumed, prompt: 'Go on.' })).text).toBe('total 10\nprepared\n');
  expect((await client.listInstances()).items.map((one) => [one.id, one.state])).toEqual([[id, 'active']]);
  await resumed.destroy();
  await expect(client.getInstance(id)).rejects.toMatchObject({ code: 'gone' });
});
