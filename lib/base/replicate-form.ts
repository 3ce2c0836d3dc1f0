/** How a promise about replicas is written: `off`, `filed`, or seconds from `1s` to `3600s` without a leading zero. */
export const REPLICATE_FORM = /^(?:off|filed|(?:[1-9]\d{0,2}|[12]\d{3}|3[0-5]\d{2}|3600)s)$/;

export const REPLICATE_RULE = 'must be off, filed, or seconds from 1s to 3600s; sync is not offered yet';
