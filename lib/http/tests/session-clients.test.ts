/**
 * Every call of the clients of Ash, in TypeScript, Python and at the command line, as they send it, and each answer as
 * they read it: recorded from their sources, and tried with them.
 */
import { expect, test } from 'vitest';
import { useSessionServer } from '../../testing/session-server.ts';
import { SHAPES } from '../../testing/session-shapes.ts';

const { keys, running } = useSessionServer();

type Shape = keyof typeof SHAPES;
/** `AGENT` and `SESSION` stand for a name and an id. Headers: `json` even without a body, as httpx is told to send. */
interface Recorded {
  call: string;
  method: string;
  path: string;
  body?: object;
  json?: boolean;
  status: number;
  shape: Shape;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SCRIPT = { path: '.agent.sh', content: base64('read line; echo "$ASH_MODEL: $line"') };

const recorded = (call: string, address: string, status: number, shape: Shape, body?: object): Recorded => {
  const [method = '', path = ''] = address.split(' ');
  return { call, method, path, status, shape, ...(body === undefined ? {} : { body }) };
};

const CALLS: readonly Recorded[] = [
  recorded('health', 'GET /health', 200, 'health'),
  recorded('createAgent', 'POST /api/agents', 201, 'agent', {
    name: 'AGENT',
    description: 'd',
    model: 'm/1',
    systemPrompt: 'be brief',
    files: [SCRIPT],
  }),
  recorded('ash deploy', 'POST /api/agents', 201, 'agent', { name: 'AGENT', files: [SCRIPT], env: { A: '1' } }),
  recorded('deployAgent', 'POST /api/agents', 501, 'error', { name: 'AGENT', path: '/srv/agent', env: { A: '1' } }),
  recorded('listAgents', 'GET /api/agents', 200, 'agents'),
  recorded('getAgent', 'GET /api/agents/AGENT', 200, 'agent'),
  recorded('updateAgent', 'PATCH /api/agents/AGENT', 200, 'agent', { description: null, env: { B: '2' } }),
  recorded('uploadAgentFiles', 'POST /api/agents/AGENT/files', 200, 'written_count', {
    files: [{ path: 'a/b', content: base64('x') }],
  }),
  recorded('listAgentFiles', 'GET /api/agents/AGENT/files', 200, 'agentFiles'),
  recorded('getAgentFile', 'GET /api/agents/AGENT/files/a/b?format=json', 200, 'agentFile'),
  recorded('deleteAgentFile', 'DELETE /api/agents/AGENT/files/a/b', 200, 'is_deleted'),
  recorded('createSession', 'POST /api/sessions', 201, 'session', { agent: 'AGENT', extraEnv: { C: '3' }, model: 'm' }),
  recorded('createSession with options', 'POST /api/sessions', 501, 'error', { agent: 'AGENT', allowedTools: [] }),
  recorded('listSessions', 'GET /api/sessions', 200, 'sessions'),
  recorded('listSessions of an agent', 'GET /api/sessions?agent=AGENT&status=active', 200, 'sessions'),
  recorded('listSessionsWithTotal', 'GET /api/sessions?agent=AGENT&limit=1&includeTotal=true', 200, 'page'),
  recorded('getSession', 'GET /api/sessions/SESSION', 200, 'session'),
  recorded('updateSessionConfig', 'PATCH /api/sessions/SESSION/config', 200, 'session', { model: 'm/2' }),
  recorded('exec', 'POST /api/sessions/SESSION/exec', 200, 'exec', { command: 'echo hi', timeout: 30_000 }),
  recorded('writeSessionFiles', 'POST /api/sessions/SESSION/files', 200, 'written', {
    files: [{ path: 'a.txt', content: base64('A'), mimeType: 'text/plain' }],
    targetPath: 'sub',
  }),
  recorded('getSessionFiles', 'GET /api/sessions/SESSION/files', 200, 'files'),
  recorded('getSessionFiles, not hidden', 'GET /api/sessions/SESSION/files?includeHidden=false', 200, 'files'),
  recorded('getSessionFile', 'GET /api/sessions/SESSION/files/sub/a.txt?format=json', 200, 'file'),
  recorded('deleteSessionFile', 'DELETE /api/sessions/SESSION/files/sub/a.txt', 200, 'deleted'),
  recorded('listSessionEvents', 'GET /api/sessions/SESSION/events', 200, 'events'),
  recorded('ash session tail', 'GET /api/sessions/SESSION/events?after=1&type=lifecycle&limit=50', 200, 'events'),
  recorded('getSessionLogs', 'GET /api/sessions/SESSION/logs', 200, 'logs'),
  recorded('getSessionLogs after', 'GET /api/sessions/SESSION/logs?after=0', 200, 'logs'),
  { ...recorded('pauseSession', 'POST /api/sessions/SESSION/pause', 200, 'session'), json: true },
  { ...recorded('pauseSession again', 'POST /api/sessions/SESSION/pause', 400, 'error'), json: true },
  { ...recorded('resumeSession', 'POST /api/sessions/SESSION/resume', 200, 'session'), json: true },
  { ...recorded('forkSession', 'POST /api/sessions/SESSION/fork', 201, 'session'), json: true },
  { ...recorded('stopSession', 'POST /api/sessions/SESSION/stop', 200, 'session'), json: true },
  recorded('endSession', 'DELETE /api/sessions/SESSION', 200, 'session'),
  recorded('endSession again', 'DELETE /api/sessions/SESSION', 200, 'session'),
  recorded('getSession of an ended one', 'GET /api/sessions/SESSION', 200, 'session'),
  { ...recorded('resumeSession of an ended one', 'POST /api/sessions/SESSION/resume', 410, 'error'), json: true },
  recorded('storeCredential', 'POST /api/credentials', 501, 'error', { type: 'anthropic', key: 'k', label: 'l' }),
  recorded('listCredentials', 'GET /api/credentials', 501, 'error'),
  recorded('deleteCredential', 'DELETE /api/credentials/c', 501, 'error'),
  recorded('uploadAttachment', 'POST /api/sessions/SESSION/attachments', 501, 'error', { filename: 'f', content: '' }),
  recorded('listAttachments', 'GET /api/sessions/SESSION/attachments', 501, 'error'),
  recorded('downloadAttachment', 'GET /api/attachments/a', 501, 'error'),
  recorded('enqueue', 'POST /api/queue', 501, 'error', { agentName: 'AGENT', prompt: 'p' }),
  recorded('listQueueItems', 'GET /api/queue?status=pending', 501, 'error'),
  recorded('getQueueStats', 'GET /api/queue/stats', 501, 'error'),
  recorded('getUsageStats', 'GET /api/usage/stats?agentName=AGENT', 501, 'error'),
  recorded('listFiles', 'GET /api/files', 501, 'error'),
  recorded('getFileUrl', 'GET /api/files/f/url', 501, 'error'),
  recorded('getAnalytics', 'GET /api/analytics?after=2026-01-01', 501, 'error'),
  recorded('listAgentVersions', 'GET /api/agents/AGENT/versions', 501, 'error'),
  recorded('activateAgentVersion', 'POST /api/agents/AGENT/versions/1/activate', 501, 'error'),
  recorded('createEvalCase', 'POST /api/agents/AGENT/eval-cases', 501, 'error', { question: 'q' }),
  recorded('compareEvalRuns', 'GET /api/agents/AGENT/eval-runs/compare?runA=a&runB=b', 501, 'error'),
  recorded('scoreEvalResult', 'PATCH /api/agents/AGENT/eval-results/r', 501, 'error', { humanScore: 1 }),
  recorded('getAgentConfig', 'GET /api/agents/AGENT/config', 501, 'error'),
  recorded('deleteAgent', 'DELETE /api/agents/AGENT', 200, 'agent'),
  recorded('getAgent of none', 'GET /api/agents/AGENT', 404, 'error'),
];

test('one key of a tenant can make every call of these clients, and each answer is what they read', async () => {
  let session = '';
  for (const { call, method, path, body, json, status, shape } of CALLS) {
    const named = (text: string) => text.replaceAll('AGENT', 'My_Agent-1').replaceAll('SESSION', session);
    const response = await fetch(running().url + named(path), {
      method,
      headers: {
        authorization: `Bearer ${keys.acme}`,
        ...(body !== undefined || json === true ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body: named(JSON.stringify(body)) }),
    });
    const answer: unknown = await response.json();
    const parsed = SHAPES[shape].safeParse(answer);
    expect([call, response.status, parsed.error?.issues ?? []], JSON.stringify(answer)).toEqual([call, status, []]);
    if (call === 'createSession') session = SHAPES.session.parse(answer).session.id;
    if (shape === 'error') expect([call, SHAPES.error.parse(answer).statusCode]).toEqual([call, status]);
  }
});

test('a file and a workspace come as bytes, and a message as lines that each of their readers takes apart', async () => {
  const headers = {
    authorization: `Bearer ${keys.acme}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
  };
  const send = (path: string, body: object) =>
    fetch(running().url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  await send('/api/agents', { name: 'talker', files: [SCRIPT], model: 'm/1' });
  const begun = SHAPES.session.parse(await (await send('/api/sessions', { agent: 'talker' })).json()).session;
  const at = `/api/sessions/${begun.id}`;
  const answer = await send(`${at}/messages`, { content: 'hello', includePartialMessages: true });
  // Their reader in Python: a line is `event: NAME` or `data: JSON`, and nothing else is looked at.
  const events: [string, Record<string, unknown>][] = [];
  let name = '';
  for (const line of (await answer.text()).split('\n')) {
    if (line.startsWith('event: ')) name = line.slice(7).trim();
    else if (line.startsWith('data: ')) events.push([name, JSON.parse(line.slice(6))]);
  }
  expect(events.map(([event]) => event)).toEqual(['session_start', 'text_delta', 'message', 'done']);
  expect(events[0]?.[1]).toEqual({ sessionId: begun.id, version: expect.any(String) });
  expect(events[1]?.[1]).toMatchObject({ delta: 'm/1: hello\n' });
  expect(events[2]?.[1]).toMatchObject({
    type: 'assistant',
    message: { content: [{ type: 'text', text: 'm/1: hello\n' }] },
  });
  expect(events[3]?.[1]).toEqual({ sessionId: begun.id });
  const file = await fetch(`${running().url}${at}/files/.agent.sh`, {
    headers: { authorization: headers.authorization },
  });
  expect([file.headers.get('x-ash-source'), base64(await file.text())]).toEqual(['sandbox', SCRIPT.content]);
  const workspace = await fetch(`${running().url}${at}/workspace`, {
    headers: { authorization: headers.authorization },
  });
  const bundle = Buffer.from(await workspace.arrayBuffer()).toString('base64');
  expect(SHAPES.message.parse(await (await send(`${at}/workspace`, { bundle })).json()).message).not.toBe('');
});
