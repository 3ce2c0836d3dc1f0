/** A link or a key that is shown only once, with a button that copies it. */
import { CopyId } from '#components/ui/copy-id.tsx';

export function SecretOnce({ secret, name, says }: { secret: string; name: string; says: string }) {
  return (
    <div className="outcome grid gap-2" role="status">
      <p>{says}</p>
      <CopyId id={secret} label={`Copy the ${name}`} className="text-[0.8125rem]" />
    </div>
  );
}
