/** What an upgrade would change for a docked sandbox, what breaks first. */
import type { UpgradeChange } from '#lib/contract/schema.ts';

const SHOWN = 50;

export function UpgradeList({ changes }: { changes: readonly UpgradeChange[] }) {
  if (changes.length === 0) return <p className="text-ink-2">No component changes.</p>;
  const sorted = [...changes].sort((one, other) => Number(other.breaking) - Number(one.breaking));
  return (
    <ul className="grid gap-1.5">
      {sorted.slice(0, SHOWN).map(({ kind, component, message, breaking }) => (
        <li
          key={`${kind} ${component} ${message}`}
          className={`border-l-[3px] pl-3 [overflow-wrap:anywhere] ${breaking ? 'border-fault' : 'border-rule-2'}`}
        >
          {breaking && <strong className="font-[560] text-fault-ink">Breaks: </strong>}
          {message}
        </li>
      ))}
      {changes.length > SHOWN && (
        <li className="text-small text-ink-3">and {(changes.length - SHOWN).toLocaleString('en')} more</li>
      )}
    </ul>
  );
}
