/** A ledger line as a sentence. Pure: it adds nothing to what the line says. */
import type { Event } from '#lib/contract/schema.ts';
import type { State } from '#lib/lifecycle/state-map.ts';
import { tookInWords } from '../ui/durations.ts';

const MOVED: Readonly<Record<State, string>> = {
  created: 'registered',
  active: 'woke',
  suspended: 'suspended',
  frozen: 'froze',
  archived: 'archived',
  deleted: 'deleted',
};

const SOURCES: Readonly<Record<string, string>> = {
  local: 'from its live file',
  cold: 'from the cold drawer',
  archive: 'from the archive',
  cloud: 'from the object store',
  snapshot: 'from a snapshot',
  blueprint: 'from a blueprint',
  fresh: 'with a fresh file',
};

/** The verb phrase of each type of line. One that ends in `of` or `as` is followed by the sandbox. */
const TYPES: Readonly<Record<string, string>> = {
  'instance.created': 'registered',
  'instance.imported': 'imported',
  'instance.changed': 'changed the settings of',
  'create.refused': 'was refused a new sandbox',
  'settings.changed': 'changed the settings',
  'registry.checked': 'checked the registry',
  'settings.backups_changed': 'changed the settings of backups',
  'backup.asked': 'asked for a backup',
  'backup.begun': 'began a backup',
  'backup.made': 'made a backup',
  'backup.failed': 'made no backup: it failed',
  'backup.found': 'found a backup that was not known',
  'backup.removed': 'removed backups',
  'backup.prune_failed': 'could not remove old backups',
  'backup.verified': 'tried a backup by restoring',
  'backup.verify_failed': 'tried a backup, which was damaged',
  'backup.restore_failed': 'did not restore from a backup',
  'backup.fault_raised': 'found that backups need someone',
  'backup.fault_cleared': 'found that backups are well again',
  'backup.restored': 'restored a backup',
  'replica.restored': 'restored from the replica',
  'backup.placed': 'brought back from a backup the file of',
  'replica.placed': 'brought back a moment as',
  'replica.restore_failed': 'did not bring back a moment of',
  'keys.made': 'made new key files',
  'keys.rotated': 'replaced a key of the server',
  'keys.finished': 'ended the rotation of a key of the server',
  'keys.accepted': 'went on with another key of the server',
  'tenant.changed': 'changed the settings of a tenant',
  'env.changed': 'changed variables of',
  'secret.set': 'set a secret of',
  'secret.removed': 'removed a secret of',
  'tenant.forgetting': 'began to forget a tenant',
  'tenant.forgotten': 'forgot a tenant',
  'fault.raised': 'found a fault in',
  'fault.cleared': 'cleared the fault of',
  'exec.refused': 'was refused a call in',
  'workbook.put': 'stored a workbook',
  'workbook.deleted': 'deleted a workbook',
  'instance.docked': 'docked a workbook in',
  'component.called': 'called a component of',
  'component.failed': 'called a component, which failed, of',
  'terminal.opened': 'opened a terminal of',
  'terminal.cleared': 'cleared the scrollback of a terminal of',
  'terminal.closed': 'closed a terminal of',
  'run.stopped': 'had a run stopped in',
  'run.lost': 'lost a run in',
  'exec.timed_out': 'ended a call for time in',
  'clock.set_back': 'found the clock set back',
  'thermal.warm': 'paused the idle process of',
  'thermal.wake': 'continued the paused process of',
  'thermal.force_pause': 'paused the silent process of',
  'process.silent': 'heard nothing from the process of',
  'exec.out_of_memory': 'ended a call for memory in',
  'plan.refused': 'was refused a plan for',
  'suspend.failed': 'failed to suspend',
  'suspend.refused': 'was kept from suspending',
  'freeze.failed': 'failed to freeze',
  'freeze.refused': 'was kept from freezing',
  'archive.failed': 'failed to archive',
  'archive.refused': 'was kept from archiving',
  'delete.failed': 'failed to delete',
  'delete.refused': 'was kept from deleting',
  'prefetch.failed': 'failed to bring home',
  'wake.failed': 'failed to wake',
  'wake.refused': 'was refused a wake of',
  'file.prefetched': 'brought home the file of',
  'file.reclaimed': 'found in another drawer, and took back, the file of',
  'file.rescued': 'saved the lost file of',
  'file.returned': 'filed back, unused, the file of',
  'file.stored': 'stored the file of',
  'file.forgotten': 'no longer found in the store, and stores again, the file of',
  'replica.behind': 'found replicas more behind than promised',
  'replica.caught_up': 'found the replicas as promised again',
  'replica.gap': 'began the replica anew of',
  'recovery.failed': 'could not take up the log of',
  'instance.adopted': 'took back by its key the file of',
  'instance.taken_over': 'took over, from a host that does not answer,',
  'instance.found': 'found, where it was filed later, the file of',
  'instance.recovered': 'made again, from the store, the row of',
  'snapshot.recovered': 'made again, from the store, the row of a snapshot of',
  'blueprint.recovered': 'made again, from the store, the row of a blueprint of',
  'snapshot.adopted': 'took back by its hash a snapshot',
  'blueprint.adopted': 'took back by its hash a blueprint',
  'registry.recounted': 'counted again in the registry',
  'staging.cleared': 'removed unfinished work',
  'orphan.set_aside': 'set aside a stray file of',
  'orphan.removed': 'removed what was not its own from the folder of',
  'private.read': 'read private files of',
  'logs.read': 'read the log of',
  'host.draining': 'has a host emptied',
  'host.kept': 'has a host take what is new again',
  'host.labelled': 'labelled a host',
  'job.started': 'started a job',
  'job.done': 'finished a job',
  'job.cancelled': 'cancelled a job',
  'schedule.created': 'scheduled something in',
  'schedule.changed': 'changed a schedule of',
  'schedule.removed': 'removed a schedule of',
  'schedule.synchronised': 'took over the schedules of the workbook of',
  'schedule.refused': 'could not take over the schedules of the workbook of',
  'schedule.fired': 'ran what is scheduled in',
  'schedule.failed': 'ran what is scheduled, which failed, in',
  'schedule.skipped': 'passed over a missed time in',
  'ledger.exported': 'exported lines of the ledger',
  'ledger.sealed': 'sealed a month of the ledger',
  'ledger.dropped': 'dropped a month of the ledger',
  'ledger.broken': 'found the ledger changed',
  'ledger.epoch_begun': 'began a new epoch of the ledger',
  'ledger.head_missing': 'found the ledger without its signed head',
  'snapshot.taken': 'took a snapshot of',
  'snapshot.failed': 'failed to take a snapshot of',
  'snapshot.deleted': 'deleted a snapshot of',
  'snapshot.restored': 'restored a snapshot',
  'moment.named': 'named a moment of',
  'moment.removed': 'removed a named moment of',
  'files.taken_back': 'took back, as they were, files of',
  'agent.deployed': 'deployed an agent',
  'agent.changed': 'changed an agent',
  'agent.failed': 'failed to deploy an agent',
  'agent.deleted': 'deleted an agent',
  'blueprint.made': 'made a blueprint of',
  'blueprint.failed': 'failed to make a blueprint of',
  'blueprint.deleted': 'deleted a blueprint of',
  'blueprint.cloned': 'cloned a blueprint',
  'start.progress': 'is starting what was made',
  'start.done': 'started what was made',
  'start.paused': 'paused starting what was made',
  'start.resumed': 'went on starting what was made',
  'bundle.shipped': 'shipped a bundle of',
  'bundle.failed': 'failed to ship',
  'bundle.imported': 'imported a bundle as',
  'import.refused': 'was refused a bundle',
  'raw.sent': 'sent out the raw file of',
  'raw.failed': 'failed to send out the raw file of',
  'instance.salvaged': 'salvaged what is readable of',
  'salvage.failed': 'failed to salvage',
  'file.kept_aside': 'kept aside the file of',
  'file.restored': 'restored in place the file of',
  'restore.failed': 'failed to restore',
  'restore.refused': 'was kept from restoring',
  'checkout.sent': 'checked out the work of',
  'checkout.failed': 'failed to check out',
  'person.invited': 'invited somebody',
  'person.joined': 'joined',
  'person.signed_in': 'signed in',
  'person.changed': 'changed the rights of somebody',
  'person.disabled': 'disabled an account',
  'person.enabled': 'enabled an account',
  'invitation.withdrawn': 'withdrew an invitation',
  'password.changed': 'changed a password',
  'session.ended': 'ended a session',
  'signin.failed': 'failed to sign in',
  'key.created': 'made a key',
  'key.revoked': 'revoked a key',
  'network.changed': 'changed the network list of',
  'network.refused': 'was refused the network in',
  'network.used': 'used the network in',
  'attention.acknowledged': 'acknowledged what needs attention:',
  'attention.reopened': 'took back that it was acknowledged:',
  'webhook.created': 'set up a webhook',
  'webhook.changed': 'changed a webhook',
  'webhook.removed': 'removed a webhook',
  'webhook.secret_rotated': 'replaced the secret of a webhook',
  'webhook.tested': 'sent a test to a webhook',
  'webhook.resent': 'sent again what a webhook was told',
  'webhook.turned_off': 'turned off a webhook',
  'access.refused': 'was refused',
  'reconcile.rolled_back': 'took back what was half done to',
  'reconcile.rolled_forward': 'finished what was half done to',
};

/** The types to filter by: those that the console has words for. A line may be of another type. */
export const EVENT_TYPES: readonly string[] = ['transition', ...Object.keys(TYPES)];

/** A trigger: in two words for a column, and as the reason in a sentence. */
const TRIGGERS: Readonly<Record<Event['trigger'], { short: string; because: string | null }>> = {
  request: { short: 'a request', because: null },
  idle: { short: 'idle', because: 'it was idle' },
  schedule: { short: 'a schedule', because: 'a schedule fired' },
  operator: { short: 'by hand', because: null },
  plan: { short: 'a plan', because: 'it was a step of a plan' },
  crash: { short: 'a crash', because: 'its process crashed' },
  timeout: { short: 'out of time', because: 'a call ran out of time' },
  reconcile: { short: 'found unfinished', because: 'the server found it unfinished' },
  memory: { short: 'short memory', because: 'the sandboxes’ memory was short' },
  pressure: { short: 'made room', because: 'another sandbox needed its place' },
  quota: { short: 'a quota', because: 'a quota was reached' },
  boot: { short: 'server start', because: 'the server started' },
  stop: { short: 'server stop', because: 'the server stopped' },
};

/** Begins the actor of what the code in a sandbox did by itself. */
const SANDBOX = 'sandbox:';

/** What to call actors on a page: their names, and `You` for the visitor. */
export type ActorNames = ReadonlyMap<string, string>;

/** Who did it: the ladder, the server, or the actor by name. */
export function actorInWords(
  event: Pick<Event, 'actor' | 'actor_name' | 'via' | 'trigger'>,
  names?: ActorNames,
): string {
  if (event.via === 'ticker' || event.trigger === 'idle') return 'The ladder';
  if (event.actor.startsWith(SANDBOX)) return 'Guest code';
  if (event.via === 'system') return 'The server';
  if (event.via === 'schedule') return 'A schedule';
  return nameOfActor(event.actor, names, event.actor_name);
}

/** An actor in words: as the page calls it, else by the name that came with the act, else by what the ledger has. */
export function nameOfActor(actor: string, names?: ActorNames, actorName: string | null = null): string {
  const called = names?.get(actor);
  if (called !== undefined) return called;
  if (actorName !== null) return actor.startsWith('key:') ? `The key ${actorName}` : actorName;
  if (actor === 'key:admin') return 'The admin key';
  if (actor === 'nobody') return 'Somebody';
  if (actor === 'first-start') return 'The first start';
  if (actor.startsWith('key:')) return `The key wd_${actor.slice('key:'.length)}`;
  return actor.startsWith('user:') ? 'A person' : actor;
}

/** The words of an actor in the middle of a sentence: `the ladder`, `you`. */
export function withinSentence(name: string): string {
  return name.replace(/^(?:The|A|You|Somebody)\b/, (word) => word.toLowerCase());
}

/** A person in a reason, by the ledger's id. */
const MENTIONED = /\buser:[\w-]+/g;

/** A text of a line with the people that it mentions by their names. */
export function mentionsInWords(
  text: string,
  event: Pick<Event, 'actor' | 'actor_name'>,
  names: ActorNames | undefined,
): string {
  const nameOf = (actor: string) =>
    withinSentence(nameOfActor(actor, names, actor === event.actor ? event.actor_name : null));
  return text.replace(MENTIONED, nameOf);
}

/** The reason of a line about a month: `2026-10: lines 1 to 31, kept for 90 days`. */
const MONTH = /^(\d{4})-(\d{2}): lines (\d+) to (\d+)(?:, (.+))?$/;
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `the ledger of October 2026 (31 lines)`; null for a reason that names no month. */
function monthInWords(reason: string | null): string | null {
  const [, year, month, first, last, kept] = MONTH.exec(reason ?? '') ?? [];
  const name = MONTHS[Number(month) - 1];
  if (name === undefined) return null;
  const lines = Number(last) - Number(first) + 1;
  const count = `${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'}`;
  return `the ledger of ${name} ${year} (${[count, ...(kept === undefined ? [] : [kept])].join(', ')})`;
}

/** A hash in a reason; group 1 is its beginning, which is enough to recognise it. */
const HASH = /\b(sha256:[0-9a-f]{12})[0-9a-f]{52}\b/g;

/**
 * The reason of a line, with people by their names and hashes shortened; null when there is none, or when the rest of
 * the sentence says it already.
 */
export function reasonInWords(
  event: Pick<Event, 'type' | 'reason' | 'actor' | 'actor_name'>,
  names?: ActorNames,
): string | null {
  const isRedundant =
    ((event.type === 'ledger.sealed' || event.type === 'ledger.dropped') && monthInWords(event.reason) !== null) ||
    (event.type === 'person.signed_in' && event.actor === 'key:admin' && event.reason === 'by the admin key');
  if (isRedundant || event.reason === null) return null;
  return mentionsInWords(event.reason.replace(HASH, '$1…'), event, names);
}

/** A reason between its own marks: those in it are the inner ones. */
export function quoted(reason: string): string {
  return `“${reason.replace(/["“]([^"“”]*)["”]/g, '‘$1’')}”`;
}

/** Whether the console has words for a type of line. */
export function hasWords(type: string): boolean {
  return type === 'transition' || Object.hasOwn(TYPES, type);
}

/** What was done, without the sandbox: `suspended`, `failed to freeze`. */
export function actionInWords(event: Pick<Event, 'type' | 'from' | 'to' | 'reason' | 'instance'>): string {
  if (event.type === 'transition' && event.to !== null) {
    if (event.to === 'active' && event.from === 'archived') return 'revived';
    return MOVED[event.to];
  }
  if (event.type === 'ledger.sealed' || event.type === 'ledger.dropped') {
    const month = monthInWords(event.reason);
    if (month !== null) return `${event.type === 'ledger.sealed' ? 'sealed' : 'dropped'} ${month}`;
  }
  const words = TYPES[event.type] ?? event.type.replace(/[._]/g, ' ');
  return event.instance === null ? words.replace(/ (?:of|as|for)$/, '') : words;
}

/** The drawer that a wake took the file from. */
export function sourceInWords(event: Pick<Event, 'source'>): string | null {
  return event.source === null ? null : (SOURCES[event.source] ?? event.source);
}

/** A wake in a sentence: `It woke from the cold drawer in 34 ms.` */
export function wakeEventInWords({ source, took_ms }: { source?: Event['source']; took_ms: number | null }): string {
  const from = source === undefined || source === null ? '' : ` ${sourceInWords({ source })}`;
  return `It woke${from}${took_ms === null ? '' : ` in ${tookInWords(took_ms)}`}.`;
}

/** The trigger in a word or two. */
export function triggerInWords(event: Pick<Event, 'trigger'>): string {
  return TRIGGERS[event.trigger].short;
}

/** Why a sandbox is where it is: who put it there, why, from where, and how long that took. */
export function whyItIsHere(event: Event, names?: ActorNames): string {
  const parts = [`${actorInWords(event, names)} ${actionInWords(event)} it`];
  const source = sourceInWords(event);
  if (source !== null && event.to === 'active') parts.push(source);
  const { because } = TRIGGERS[event.trigger];
  if (because !== null) parts.push(`because ${because}`);
  else if (event.via === 'console') parts.push('in the console');
  else if (event.via === 'api') parts.push('through the API');
  const sentence = parts.join(' ');
  return event.took_ms === null ? `${sentence}.` : `${sentence}; it took ${tookInWords(event.took_ms)}.`;
}
