ALTER TABLE `keys` ADD `max_call_s` integer;--> statement-breakpoint
ALTER TABLE `tenants` ADD `max_call_s` integer;