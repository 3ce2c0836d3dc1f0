/** States that the ladder and the ephemeral walk move to. */
export type DueTo = 'suspended' | 'frozen' | 'archived' | 'deleted';
