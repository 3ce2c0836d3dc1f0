/** Why somebody revives a sandbox. */
export function ReviveReason({ reason, className = '' }: { reason: string; className?: string }) {
  return (
    <label className={`block min-w-0 ${className}`}>
      <span className="field-name">Reason, for the ledger</span>
      <input
        className="input"
        name="reason"
        required
        maxLength={1000}
        defaultValue={reason}
        placeholder="Who needs it again, and for what"
        autoComplete="off"
      />
    </label>
  );
}
