/**
 * For tests: what the clients of Ash do with an answer, as shapes. Read from what their Python client parses, which is
 * the strictest: ids become UUIDs, times dates, and a word that it does not know is an error.
 */
import { z } from 'zod';

const iso = z.iso.datetime();
const status = z.enum(['active', 'ended', 'error', 'paused', 'starting', 'stopped']);

const sessionShape = z.looseObject({
  id: z.guid(),
  tenantId: z.string(),
  agentName: z.string(),
  sandboxId: z.string(),
  status,
  createdAt: iso,
  lastActiveAt: iso,
  runnerId: z.string().nullable(),
  parentSessionId: z.guid().nullable(),
  model: z.string().nullable(),
});

const agentShape = z.looseObject({
  id: z.guid(),
  name: z.string(),
  version: z.int(),
  path: z.string(),
  createdAt: iso,
  updatedAt: iso,
});

const fileShape = z.looseObject({ path: z.string(), size: z.int(), modifiedAt: iso });
const eventShape = z.looseObject({
  id: z.guid(),
  sessionId: z.guid(),
  type: z.enum(['error', 'lifecycle', 'reasoning', 'text', 'tool_result', 'tool_start', 'turn_complete']),
  data: z.string().nullable(),
  sequence: z.int(),
  createdAt: iso,
});
const logShape = z.looseObject({
  index: z.int(),
  level: z.enum(['stdout', 'stderr', 'system']),
  text: z.string(),
  ts: iso,
});
const poolNumbers = [
  ...['total', 'cold', 'warming', 'warm', 'waiting', 'running', 'maxCapacity'],
  ...['resumeWarmHits', 'resumeColdHits', 'resumeColdLocalHits', 'resumeColdCloudHits', 'resumeColdFreshHits'],
  'preWarmHits',
];

/** Answers by what they hold. */
export const SHAPES = {
  health: z.looseObject({
    status: z.literal('ok'),
    activeSessions: z.int(),
    activeSandboxes: z.int(),
    uptime: z.int(),
    pool: z.looseObject(Object.fromEntries(poolNumbers.map((name) => [name, z.int()]))),
  }),
  agent: z.looseObject({ agent: agentShape }),
  agents: z.looseObject({ agents: z.array(agentShape) }),
  agentFiles: z.looseObject({ files: z.array(fileShape) }),
  agentFile: z.looseObject({ path: z.string(), content: z.string(), size: z.int() }),
  session: z.looseObject({ session: sessionShape }),
  sessions: z.looseObject({ sessions: z.array(sessionShape) }),
  page: z.looseObject({ sessions: z.array(sessionShape), total: z.int() }),
  exec: z.looseObject({ exitCode: z.int(), stdout: z.string(), stderr: z.string() }),
  files: z.looseObject({ files: z.array(fileShape), source: z.enum(['sandbox', 'snapshot']) }),
  file: z.looseObject({ path: z.string(), content: z.string(), size: z.int(), source: z.string() }),
  written: z.looseObject({ files: z.array(z.looseObject({ path: z.string(), written: z.boolean() })) }),
  deleted: z.looseObject({ path: z.string(), deleted: z.boolean() }),
  message: z.looseObject({ message: z.string() }),
  events: z.looseObject({ events: z.array(eventShape) }),
  logs: z.looseObject({ logs: z.array(logShape), source: z.string() }),
  error: z.strictObject({ error: z.string().min(1), statusCode: z.int().min(400) }),
  written_count: z.looseObject({ written: z.int() }),
  is_deleted: z.looseObject({ deleted: z.literal(true) }),
} as const;
