/** How a promise about replicas is written: `off`, `filed`, `sync`, or seconds from `1s` to `3600s`, as numbers are. */
export const REPLICATE_FORM = /^(?:off|filed|sync|(?:[1-9]\d{0,2}|[12]\d{3}|3[0-5]\d{2}|3600)s)$/;

export const REPLICATE_RULE = 'must be off, filed, seconds from 1s to 3600s, or sync';
