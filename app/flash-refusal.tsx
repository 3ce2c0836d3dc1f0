/** Shows why a posted form was refused, on the page that the form came from. */
import { Outcome } from '#components/ui/outcome.tsx';
import type { Flash } from './flash.ts';

/** Nothing when there is no flash, or when it is no refusal. */
export function FlashRefusal({ flash }: { flash: Flash | null }) {
  if (flash?.kind !== 'refusal') return null;
  return (
    <div className="mb-5">
      <Outcome outcome={{ ok: false, says: flash.says, hint: flash.hint }} />
    </div>
  );
}
