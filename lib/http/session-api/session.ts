/** A sandbox as a session of Ash, and errors in its form. Pure: knows no engine. */
import { storageFailure } from '../../base/errors.ts';
import type { Instance, ResumeAnswer } from '../../contract/schema.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { type Answer, json } from '../answer.ts';
import { toProblem } from '../problem.ts';
import { sessionIdOf } from './session-id.ts';

export const SESSION_STATUSES = ['starting', 'active', 'paused', 'stopped', 'error', 'ended'] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

const STATUS: Readonly<Record<State, SessionStatus>> = {
  created: 'starting',
  active: 'active',
  suspended: 'paused',
  frozen: 'paused',
  archived: 'stopped',
  deleted: 'ended',
};

/** The label that a paused session has, whose sandbox is active still or again. */
export const PAUSED_LABEL = 'ash-paused';

/** The status of a session. A fault wins over every state but the end. */
export function sessionStatusOf({ state, fault, labels }: Pick<Instance, 'state' | 'fault' | 'labels'>): SessionStatus {
  if (fault !== null && state !== 'deleted') return 'error';
  return state === 'active' && labels[PAUSED_LABEL] !== undefined ? 'paused' : STATUS[state];
}

/** The label that names the agent of a fork, whose own origin is a snapshot. */
export const AGENT_LABEL = 'ash-agent';

/** The label that names the model of a session. */
export const MODEL_LABEL = 'ash-model';

/** The blueprint that a session came from, or null. */
export function agentOf({ labels, lineage }: Pick<Instance, 'labels' | 'lineage'>): string | null {
  return labels[AGENT_LABEL] ?? lineage.blueprint;
}

/** A time as clients of Ash read it. */
export const isoOf = (epochSeconds: number) => new Date(epochSeconds * 1000).toISOString();

/** A sandbox as `{session}` shows it. */
export function sessionOf(instance: ResumeAnswer['instance']) {
  return {
    id: sessionIdOf(instance.id),
    tenantId: instance.tenant,
    agentName: agentOf(instance) ?? '',
    sandboxId: instance.id,
    status: sessionStatusOf(instance),
    createdAt: isoOf(instance.created),
    lastActiveAt: isoOf(instance.updated),
    runnerId: null,
    parentSessionId: instance.lineage.parent === null ? null : sessionIdOf(instance.lineage.parent),
    model: instance.labels[MODEL_LABEL] ?? null,
    config: null,
  };
}

/** An error of the session API: `{error, statusCode}`. */
export const refused = (statusCode: number, error: string): Answer => json(statusCode, { error, statusCode });

/**
 * A problem in the form of the session API: invalid input is 400 here, and so is what an ended session is asked for;
 * 410 is said by resume alone. Headers such as `Retry-After` stay.
 */
export function refusalOf(problem: Answer, thrown: unknown, { isResume = false } = {}): Answer {
  const { detail, hint } = toProblem(storageFailure(thrown) ?? thrown, '');
  const isBad = problem.status === 422 || (problem.status === 410 && !isResume);
  const statusCode = isBad ? 400 : problem.status;
  const { 'content-type': _type, ...headers } = problem.headers ?? {};
  return json(statusCode, { error: hint === undefined ? detail : `${detail} ${hint}`, statusCode }, headers);
}
