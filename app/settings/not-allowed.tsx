/** A settings page that the visitor's role does not open, with the reason. */
import { Outcome } from '#components/ui/outcome.tsx';

export function NotAllowed({ title, why }: { title: string; why: string }) {
  return (
    <div className="pt-10 pb-24">
      <h1 className="headline">
        {title} <span className="quiet">not with your role</span>
      </h1>
      <div className="mt-6">
        <Outcome outcome={{ ok: false, says: why, hint: 'Ask an admin.' }} />
      </div>
    </div>
  );
}
