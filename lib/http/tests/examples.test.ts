import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERROR_STATUS } from '../../base/error-status.ts';
import { ERROR_WORDS } from '../../contract/error-words.ts';
import { firstAdmin } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { EXAMPLE_ID } from '../examples.ts';
import { ROUTES } from '../routes.ts';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; required?: boolean; example?: unknown }[];
  requestBody?: { required?: boolean; content: Record<string, { example?: unknown }> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
}

let server: TestServer;
/** A person, where the server runs in this process. */
let who: { key: null; headers: Record<string, string> } | undefined;
let operations: Map<string, { method: string; path: string; operation: Operation }>;
beforeAll(async () => {
  server = await startServer();
  if (process.env.WB_TEST_TARGET !== 'next') {
    who = { key: null, headers: { cookie: await firstAdmin(server.host.auth), origin: server.url } };
  }
  const { json } = await server.call<Document>('GET', '/openapi.json');
  operations = new Map(
    Object.entries(json.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        operation.operationId,
        { method: method.toUpperCase(), path, operation },
      ]),
    ),
  );
});
afterAll(() => server.stop());

/** Runs an operation exactly as its document's examples have it, but for an id that an earlier answer gave. */
async function run(name: string, id?: string) {
  const found = operations.get(name);
  if (found === undefined) throw new Error(`The document has no ${name}.`);
  const { operation, method } = found;
  const content = operation.requestBody?.content ?? {};
  let body: unknown = content['application/json']?.example ?? content['text/plain']?.example;
  const names = id !== undefined && typeof body === 'object' && body !== null && 'snapshot' in body;
  if (names) body = Object.assign({}, body, { snapshot: id });
  let path = found.path;
  const query = new URLSearchParams();
  for (const { name: parameter, in: place, required, example } of operation.parameters ?? []) {
    if (required) expect([name, parameter, example]).toEqual([name, parameter, expect.anything()]);
    if (example === undefined) continue;
    const named = ['schedule', 'run', 'terminal'].find((one) => found.path.includes(`{${one}}`)) ?? 'id';
    const value = parameter === named && id !== undefined && !names ? id : String(example);
    if (place === 'path') path = path.replace(`{${parameter}}`, encodeURIComponent(value));
    if (place === 'query') query.set(parameter, String(example));
  }
  const search = query.size === 0 ? '' : `?${query}`;
  return server.call(method, `${path}${search}`, body, who);
}

/** Keys whose value says by an id who did something. Each has a name beside it. */
const ACTOR_KEYS = ['actor', 'created_by', 'updated_by'];

/** Where an answer has the id of a person and no name for it; of a line about a person, the reason may have one. */
function namelessIds(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, n) => namelessIds(item, `${place}[${n}]`));
  if (typeof value !== 'object' || value === null) return [];
  const object = value as Record<string, unknown>;
  return Object.entries(object).flatMap(([key, member]) => {
    const here = `${place}.${key}`;
    if (typeof member !== 'string') return namelessIds(member, here);
    if (ACTOR_KEYS.includes(key)) {
      const name = object[`${key}_name`];
      return name === undefined || (member.startsWith('user:') && name === null) ? [here] : [];
    }
    const isAboutPerson = key === 'reason' && /^(?:person|session)\./.test(String(object.type));
    return /\buser:/.test(member) && !isAboutPerson ? [here] : [];
  });
}

/** From nothing to nothing: what each example answers when they are tried one after another. */
const CALLS: readonly [name: string, status: number, idOf?: string][] = [
  ['createInstance', 201],
  ['listInstances', 200],
  ['getInstance', 200],
  ['patchInstance', 200],
  ['execInInstance', 200],
  ['evalInInstance', 200],
  ['attachToInstance', 200],
  ['detachFromInstance', 204],
  ['patchInstanceEnv', 200],
  ['instanceEnv', 200],
  ['patchTenantEnv', 200],
  ['tenantEnv', 200],
  ['setInstanceSecret', 200],
  ['instanceSecrets', 200],
  ['deleteInstanceSecret', 204],
  ['setTenantSecret', 200],
  ['tenantSecrets', 200],
  ['deleteTenantSecret', 204],
  ['startRun', 202],
  ['listRuns', 200],
  ['getRun', 200, 'startRun'],
  ['stopRun', 200, 'startRun'],
  ['openTerminal', 201],
  ['listTerminals', 200],
  ['typeInTerminal', 202, 'openTerminal'],
  ['interruptTerminal', 200, 'openTerminal'],
  ['completeLine', 200],
  ['closeTerminal', 204, 'openTerminal'],
  ['putFile', 201],
  ['getFile', 200],
  ['listVolumes', 200],
  ['listFiles', 200],
  ['makeFolder', 204],
  ['listFolder', 200],
  ['deleteFolder', 204],
  ['listTables', 200],
  ['listRows', 200],
  ['searchFiles', 200],
  ['queryFiles', 200],
  ['moveFile', 204],
  ['deleteFile', 204],
  ['listInstanceEvents', 200],
  ['listInstanceLogs', 200],
  ['instanceUsage', 200],
  ['instanceLife', 200],
  ['instanceLoad', 200],
  ['exportInstanceLoad', 200],
  ['listEvents', 200],
  ['createSchedule', 201],
  ['listSchedules', 200],
  ['getSchedule', 200, 'createSchedule'],
  ['patchSchedule', 200, 'createSchedule'],
  ['runSchedule', 202, 'createSchedule'],
  ['listScheduleRuns', 200, 'createSchedule'],
  ['deleteSchedule', 204, 'createSchedule'],
  ['takeSnapshot', 201],
  ['listSnapshots', 200],
  ['getSnapshot', 200, 'takeSnapshot'],
  ['restoreSnapshot', 201, 'takeSnapshot'],
  ['getSnapshotLineage', 200, 'takeSnapshot'],
  ['deleteSnapshot', 204, 'takeSnapshot'],
  ['createBlueprint', 201],
  ['listBlueprints', 200],
  ['getBlueprint', 200],
  ['patchBlueprintEnv', 200],
  ['blueprintEnv', 200],
  ['cloneBlueprint', 201],
  ['getBlueprintLineage', 200],
  ['getInstanceLineage', 200],
  ['deleteBlueprint', 204],
  ['getPlan', 200],
  ['startJob', 202],
  ['listJobs', 200],
  ['getJob', 200, 'startJob'],
  ['listJobResults', 200, 'startJob'],
  ['cancelJob', 200, 'startJob'],
  ['listTenants', 200],
  ['getTenant', 200],
  ['tenantUsage', 200],
  ['listTenantLogs', 200],
  ['serverUsage', 200],
  ['tenantLoad', 200],
  ['exportTenantLoad', 200],
  ['serverLoad', 200],
  ['exportServerLoad', 200],
  ['patchTenant', 200],
  ['forgetTenant', 200],
  ['wakeTimes', 200],
  ['previewThresholds', 200],
  ['simulate', 200],
  ['storage', 200],
  ['checkStorage', 200],
  ['backupSettings', 200],
  ['attention', 200],
  ['acknowledge', 200],
  ['unacknowledge', 204],
  ['putBackupSettings', 200],
  ['listBackups', 200],
  ['createWebhook', 201],
  ['listWebhooks', 200],
  ['getWebhook', 200, 'createWebhook'],
  ['patchWebhook', 200, 'createWebhook'],
  ['rotateWebhookSecret', 200, 'createWebhook'],
  ['listWebhookDeliveries', 200, 'createWebhook'],
  ['deleteWebhook', 204, 'createWebhook'],
  ['me', 200],
  ['people', 200],
  ['invite', 201],
  ['invitations', 200],
  ['withdrawInvitation', 204, 'invite'],
  ['createKey', 201],
  ['listKeys', 200],
  ['revokeKey', 204, 'createKey'],
  ['exportEvents', 200],
  ['getLedgerHead', 200],
  ['verifyLedger', 200],
  ['listLedgerSegments', 200],
  ['suspendInstance', 200],
  ['rawInstance', 200],
  ['salvageInstance', 201],
  ['takeSnapshot', 201],
  ['restoreInstance', 200, 'takeSnapshot'],
  ['prefetchInstance', 200],
  ['freezeInstance', 200],
  ['walkPlan', 200],
  ['resumeInstance', 200],
  ['archiveInstance', 200],
  ['reviveInstance', 200],
  ['archiveInstance', 200],
  ['deleteInstance', 204],
  ['getSettings', 200],
  ['patchSettings', 200],
  ['health', 200],
  ['readiness', 200],
  ['metrics', 200],
  ['openapi', 200],
];

test('the examples run as they stand, from a new sandbox to its deletion, and no answer has a person’s id without the name', async () => {
  const given = new Map<string, string>();
  for (const [name, status, idOf] of CALLS) {
    const answer = await run(name, idOf === undefined ? undefined : given.get(idOf));
    given.set(name, String(answer.json?.id));
    expect([name, answer.status, answer.status === status ? '' : answer.text]).toEqual([name, status, '']);
    // `me` has the person itself beside the id.
    if (name !== 'openapi' && name !== 'me') expect([name, namelessIds(answer.json)]).toEqual([name, []]);
    if (name === 'execInInstance') expect(answer.json).toMatchObject({ exit_code: 0, stderr: '' });
    if (name === 'listRows') expect(answer.json).toMatchObject({ rows: [['Boskoop', 12.5]] });
    if (name === 'searchFiles') expect(answer.json).toHaveLength(1);
    if (name === 'evalInInstance') expect(answer.json).toMatchObject({ ok: true, value: [1, 4, 9] });
    if (name === 'queryFiles') expect(answer.json.rows).toHaveLength(3);
  }
  expect((await server.call('GET', `/api/instances/${EXAMPLE_ID}`)).status).toBe(410);
});

test('every operation with a body of its own has an example that fits it', () => {
  for (const { name, body } of ROUTES) {
    if (body === null || typeof body === 'string') continue;
    const schema = 'isUpload' in body ? body.json : body;
    const example = operations.get(name)?.operation.requestBody?.content['application/json']?.example;
    expect([name, schema.safeParse(example ?? {}).error?.issues ?? []]).toEqual([name, []]);
  }
});

test('every error code is explained', () => {
  expect(Object.keys(ERROR_WORDS)).toEqual(Object.keys(ERROR_STATUS));
});

test('the document has the request headers, the other form of an answer, and which bodies may be left out', () => {
  const headersOf = (name: string) =>
    operations
      .get(name)
      ?.operation.parameters?.filter((parameter) => parameter.in === 'header' && parameter.required !== true)
      .map((parameter) => parameter.name);
  expect(headersOf('getFile')).toEqual([
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'If-Unmodified-Since',
    'Range',
    'If-Range',
  ]);
  expect([headersOf('putFile'), headersOf('deleteFile')]).toEqual([
    ['If-Match', 'If-None-Match', 'Idempotency-Key'],
    ['If-Match', 'If-None-Match', 'Idempotency-Key'],
  ]);
  expect(headersOf('patchInstance')).toEqual(['If-Match', 'Idempotency-Key']);
  expect(headersOf('streamEvents')).toEqual(['Last-Event-ID']);
  const answers = operations.get('execInInstance')?.operation.responses?.['200']?.content ?? {};
  expect(Object.keys(answers)).toEqual(['application/json', 'text/event-stream']);
  const required = (name: string) => operations.get(name)?.operation.requestBody?.required;
  expect(['createInstance', 'execInInstance', 'suspendInstance', 'patchInstance'].map(required)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
