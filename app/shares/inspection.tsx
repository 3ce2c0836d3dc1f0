/** The result of inspecting a bundle: the verdict, who signed it, what is wrong, and its manifest. */
import type { Inspection } from '#lib/contract/schema.ts';

function headlineOf({ share }: Inspection): { says: string; good: boolean; detail: string } {
  if (share === undefined)
    return { says: 'No bundle', good: false, detail: 'This file is neither a bundle nor a VFS file.' };
  switch (share.verdict) {
    case 'unaltered':
      return { says: `This is share ${share.id}, unaltered`, good: true, detail: 'It left this dock, byte for byte.' };
    case 'altered':
      return {
        says: `Altered: ${share.altered.join(', ')}`,
        good: false,
        detail: `It is share ${share.id}, but not as it left this dock.`,
      };
    case 'unknown':
      return { says: 'Unknown', good: false, detail: 'It is none of the shares that left this dock.' };
  }
}

export function InspectionResult({ name, inspection }: { name: string | null; inspection: Inspection }) {
  const { says, good, detail } = headlineOf(inspection);
  const { verified, issuer, problems, importable, manifest } = inspection;
  return (
    <div className={good ? 'outcome' : 'outcome outcome-bad'} role="status">
      {name !== null && <p className="text-small text-ink-3 [overflow-wrap:anywhere]">{name}</p>}
      <p className="text-[1.25rem] leading-snug font-[580] tracking-[-0.01em] [overflow-wrap:anywhere]">{says}</p>
      <p className="mt-1">{detail}</p>
      <ul className="mt-3 grid gap-1 text-ink-2">
        <li>{verified ? 'Every hash and the signature fit.' : 'Its hashes and signature do not vouch for it.'}</li>
        <li>
          {issuer === undefined ? (
            <strong className="font-[620]">Unsigned: nobody vouches for it, and anybody may have changed it.</strong>
          ) : (
            <>
              Signed by <code className="text-[0.8125rem] [overflow-wrap:anywhere]">{issuer}</code>
            </>
          )}
        </li>
        {problems.map((problem) => (
          <li key={problem} className="[overflow-wrap:anywhere]">
            {problem}
          </li>
        ))}
        <li>{importable ? 'It can be imported.' : 'It would be refused at import.'}</li>
      </ul>
      {manifest !== null && (
        <details className="mt-3">
          <summary className="text-small underline decoration-(--rule-2) underline-offset-4">Manifest</summary>
          <pre className="mt-2 text-[0.75rem] leading-[1.55] whitespace-pre-wrap [overflow-wrap:anywhere]">
            {JSON.stringify(manifest, null, 2)}
          </pre>
        </details>
      )}
    </div>
  );
}
