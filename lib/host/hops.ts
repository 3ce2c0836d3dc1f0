/** Requests between the hosts of a registry: those that come, and those that are sent on. */
import type { Auth } from '../auth/auth.ts';
import type { Config } from '../base/config.ts';
import type { Signer } from '../base/signing.ts';
import { HopReceiver } from '../hosts/hop/hop-receiver.ts';
import { HopSender } from '../hosts/hop/hop-sender.ts';
import type { SandboxPlaces } from '../hosts/whereabouts.ts';
import { PassOn } from '../http/pass-on.ts';

export interface HostHops {
  readonly receiver: HopReceiver;
  readonly passOn: PassOn;
  /** Cuts what is under way. */
  close(): void;
}

/** Makes them. `tell` gets a sentence when what goes between the hosts can be read on its way. */
export function createHops({
  config,
  places,
  signer,
  auth,
  tell,
}: {
  config: Pick<Config, 'hostRow' | 'trustProxy'>;
  places: SandboxPlaces;
  signer: Signer;
  auth: Pick<Auth, 'vouchFor' | 'callerFromHeaders'>;
  tell: (line: string) => void;
}): HostHops {
  const { url } = config.hostRow;
  if (url?.startsWith('http:')) {
    tell(
      `Other hosts reach this one at ${url}, which has no TLS: whoever is on the way between them reads what they send each other.`,
    );
  }
  const sender = new HopSender({ places, signer });
  const passOn = new PassOn({ places, sender, auth, trustProxy: config.trustProxy });
  return { receiver: new HopReceiver({ places, signer }), passOn, close: () => sender.close() };
}
