/** One attempt to deliver: the text from the ledger line, the signature, the request. Writes nothing. */
import { type Clock, epochSeconds, isOver } from '../base/clock.ts';
import { publicMessage } from '../base/errors.ts';
import type { SecretSealer } from '../base/sealed-secrets.ts';
import type { AddressPolicy } from '../outgoing/address-policy.ts';
import { sendOutgoing } from '../outgoing/send.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerLine } from '../registry/types.ts';
import type { DeliveryRow, WebhookRow } from '../registry/webhooks.ts';
import { isWanted } from './filter.ts';
import { type AttemptResult, attemptResultOf } from './retries.ts';
import { OLD_SECRET_SECONDS, webhookHeaders } from './signature.ts';

const TIMEOUT_MS = 10_000;
/** What an answer says is of no interest; a short one is read so that its sender sees it taken. */
const ANSWER_BYTES = 16 * 1024;
/** The type of a test. */
export const PING = 'webhook.ping';

export interface AttemptParts {
  clock: Clock;
  registry: Pick<Registry, 'ledger'>;
  guard: AddressPolicy;
  sealer: SecretSealer;
  /** What is told of a line: a JSON value without contents of files. */
  dataOf: (line: LedgerLine) => unknown;
  userAgent: string;
}

/** A result of a delivery that can never succeed. */
interface FinalResult extends AttemptResult {
  isFinal: boolean;
}

const failed = (error: string, isFinal = false): FinalResult => ({ status: null, error, retryAfterMs: null, isFinal });

/** Never throws. `signal` ends it early. */
export async function attemptDelivery(
  parts: AttemptParts,
  webhook: WebhookRow,
  delivery: Pick<DeliveryRow, 'id' | 'line'>,
  signal: AbortSignal,
): Promise<FinalResult> {
  try {
    const secrets = secretsOf(parts, webhook);
    if (secrets === null) return failed('Its secret does not open with this server’s key: rotate it.');
    const body = await bodyOf(parts, webhook, delivery);
    if (body === null) return failed('Its line is not in the ledger any more.', true);
    const timestamp = epochSeconds(parts.clock);
    const answer = await sendOutgoing(parts.guard, {
      url: parts.guard.parse(webhook.url),
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': parts.userAgent,
        ...webhookHeaders(secrets, { id: delivery.id, timestamp, body }),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      mostBytes: ANSWER_BYTES,
      signal,
    });
    return { ...attemptResultOf(answer), isFinal: false };
  } catch (error) {
    return failed(publicMessage(error));
  }
}

/** The secrets that sign now; null when the present one does not open. */
function secretsOf({ clock, sealer }: AttemptParts, webhook: WebhookRow): string[] | null {
  const secret = sealer.open(webhook.secret, webhook.id);
  if (secret === null) return null;
  const { oldSecret, oldSecretUntil } = webhook;
  const untilMs = (oldSecretUntil ?? 0) * 1000;
  const isOldGood =
    oldSecret !== null && !isOver({ madeMs: untilMs - OLD_SECRET_SECONDS * 1000, untilMs }, clock.now());
  const old = isOldGood ? sealer.open(oldSecret, webhook.id) : null;
  return old === null ? [secret] : [secret, old];
}

/** The same text at every attempt; null when there is nothing to tell. A test tells when it was asked for. */
async function bodyOf(
  { clock, registry, dataOf }: AttemptParts,
  webhook: WebhookRow,
  { line: seq }: Pick<DeliveryRow, 'line'>,
): Promise<string | null> {
  if (seq === null) {
    const data = { webhook: webhook.id, name: webhook.name };
    return JSON.stringify({ type: PING, timestamp: new Date(clock.now()).toISOString(), data });
  }
  const [line] = await registry.ledger.after(seq - 1, 1);
  // Its tenant is asked once more: nothing leaves for another's, whatever was planned.
  if (line?.seq !== seq || !isWanted({ tenant: webhook.tenant, types: null }, line)) return null;
  return JSON.stringify({ type: line.type, timestamp: new Date(line.timeMs).toISOString(), data: dataOf(line) });
}
