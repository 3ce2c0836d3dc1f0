/**
 * Verifies an unpacked bundle: its signer, its faults, whether it may be imported, and which share it is. Pure.
 */
import { WinterdockError } from '../base/errors.ts';
import { verify } from '../base/signing.ts';
import type { ShareRow } from '../registry/shares.ts';
import { DISK, MEMBERS, type Member, SOURCE, signedBytes } from './manifest.ts';
import type { BundleProblem, UnpackResult } from './messages.ts';

export interface BundleVerification {
  /** The signature is valid and there are no faults. */
  verified: boolean;
  /** The signer, when the signature is valid. */
  issuer: string | null;
  /** Reasons to refuse the import. */
  faults: BundleProblem[];
  /** Remarks that do not prevent an import. */
  notes: string[];
}

export interface ShareMatch {
  id: string | null;
  verdict: 'unaltered' | 'altered' | 'unknown';
  /** Members that differ from those of the share. */
  altered: Member[];
  says: string;
}

/** What is known of a bundle beside its bytes. */
export interface BundleExpectations {
  /** The `did:key` of this dock. */
  own: readonly string[];
  /** The share of this dock that has the id in the manifest, whoever ships or imports; null when there is none. */
  shipped: Pick<ShareRow, 'id' | 'issuer'> | null;
  /** Only what is signed is taken. */
  mustBeSigned: boolean;
}

/**
 * Verifies signature and manifest. A share of this dock that has lost its signature, or has another one, is at fault:
 * it was signed when it left. So is a manifest that names a signer and has no signature.
 */
export function verifyBundle(
  unpacked: UnpackResult,
  { own, shipped, mustBeSigned }: BundleExpectations,
): BundleVerification {
  const { kind, manifest } = unpacked;
  const faults = [...unpacked.problems];
  const notes: string[] = [];
  let issuer: string | null = null;
  if (kind === 'vfs') notes.push('UNSIGNED: it is a bare VFS file, nobody vouches for it.');
  if (manifest !== null) {
    const { signature, issuer: named } = manifest;
    if (signature === undefined && named !== undefined)
      faults.push(fault(`UNSIGNED: it names ${named} as its signer, and its signature was taken out.`));
    else if (signature === undefined) notes.push('UNSIGNED: nobody vouches for it, and anybody may have changed it.');
    else if (named === undefined) faults.push(fault('It is signed, but its manifest does not say by whom.'));
    else if (!verify(named, signedBytes(manifest), signature))
      faults.push(fault(`Its signature is not that of ${named}, whom it names: manifest.json was altered.`));
    else issuer = named;
  }
  const signedBy = shipped?.issuer ?? null;
  if (signedBy !== null && issuer === null)
    faults.push(fault(`UNSIGNED: it is share ${shipped?.id} of this dock, which was signed when it left.`));
  else if (signedBy !== null && issuer !== signedBy)
    faults.push(
      fault(`It is share ${shipped?.id} of this dock, which was signed by ${signedBy}, and not by ${issuer}.`),
    );
  if (mustBeSigned && issuer === null && kind !== 'unknown')
    faults.push(fault('UNSIGNED: only what is signed is taken here.'));
  if (issuer !== null && !own.includes(issuer)) {
    notes.push(`It was signed by ${issuer}, which is not this dock (${own[0]}).`);
  }
  return { verified: issuer !== null && faults.length === 0, issuer, faults, notes };
}

/** Compares the members with those of the share that it may be. */
export function matchShare(unpacked: UnpackResult, share: ShareRow | null): ShareMatch {
  if (share === null) return { id: null, verdict: 'unknown', altered: [], says: 'unknown' };
  const { id } = share;
  const found = unpacked.kind === 'vfs' ? { [DISK]: unpacked.whole } : unpacked.members;
  const expected = unpacked.kind === 'vfs' ? [DISK] : [...MEMBERS, SOURCE];
  const altered = expected.filter(
    (name) => found[name as keyof typeof found]?.sha256 !== share.members[name]?.sha256,
  ) as Member[];
  return altered.length === 0
    ? { id, verdict: 'unaltered', altered, says: `this is share ${id}, unaltered` }
    : { id, verdict: 'altered', altered, says: `this is share ${id}, altered: ${altered.join(', ')}` };
}

/** The error of a refused import, with all faults. The code is `too_large` when one of them is. */
export function importRefusal(faults: readonly BundleProblem[]): WinterdockError {
  const says = faults.map(({ message }) => message);
  const code = faults.some(({ tooLarge }) => tooLarge) ? 'too_large' : 'validation';
  return new WinterdockError(code, `It was not imported. ${says.join(' ')}`, {
    hint: 'Nothing of it was kept.',
    extra: { errors: says.map((message) => ({ path: 'body', message })) },
  });
}

function fault(message: string): BundleProblem {
  return { message, tooLarge: false };
}
