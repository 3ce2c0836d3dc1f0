/** How a webhook fares, and what it is told, in words. Pure. */
import type { Webhook, WebhookDelivery } from '#lib/contract/schema.ts';

/** `isBad`: somebody should look. */
export function webhookStateInWords({ enabled, off_reason, failures }: Webhook): { says: string; isBad: boolean } {
  if (!enabled) return { says: off_reason === null ? 'off' : 'turned off by the server', isBad: off_reason !== null };
  if (failures === 0) return { says: 'on', isBad: false };
  return {
    says: failures === 1 ? 'on, the last attempt failed' : `on, the last ${failures} attempts failed`,
    isBad: true,
  };
}

/** What some types of lines are called; the others have no shorter name. */
const TOLD: Readonly<Record<string, string>> = { problems: 'faults and refusals', transition: 'moves' };

export function toldInWords({ tenant, types }: Pick<Webhook, 'tenant' | 'types'>): string {
  const what = types === null ? 'every line' : types.map((type) => TOLD[type] ?? type).join(', ');
  return tenant === null ? what : `${what} of ${tenant}`;
}

/** The host, for lists: the rest of an address may be a secret. */
export function receiverInWords(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

export function deliveryInWords({ state, attempts, status, error }: WebhookDelivery): string {
  if (state === 'delivered') return `taken (${status})`;
  if (attempts === 0) return 'waits';
  return state === 'failed' ? (error ?? 'failed') : `${error ?? 'failed'} It is tried again.`;
}

/** Types as somebody types them: separated by spaces or commas; null, which is every line, for none. */
export function typesOf(text: string): string[] | null {
  const types = [...new Set(text.split(/[\s,]+/).filter((type) => type !== ''))];
  return types.length === 0 ? null : types;
}
