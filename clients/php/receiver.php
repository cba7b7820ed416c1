<?php

declare(strict_types=1);

// Receives webhooks, verifies them, and processes each event once.
//
//     BURSAR_WEBHOOK_SECRET=whsec_... BURSAR_TAKEN=/var/lib/shop/taken php -S 127.0.0.1:9000 receiver.php
//
// Change take to what your shop does, and store eventID in the database transaction that does the work.

require __DIR__ . '/autoload.php';

/**
 * Processes an event, if it is new. What fails throws, and the event comes again.
 *
 * @param array<string, mixed> $event
 */
function take(array $event): void
{
    $taken = new SplFileObject(getenv('BURSAR_TAKEN'), 'a+');
    $taken->flock(LOCK_EX);
    foreach ($taken as $line) {
        if (trim($line) === $event['eventID']) {
            return;
        }
    }
    error_log("$event[event] " . ($event['deposit']['amount'] ?? ''));
    $taken->fwrite("$event[eventID]\n");
}

$body = file_get_contents('php://input', false, null, 0, 1 << 20);
try {
    $event = Bursar\Webhook::verify(getenv('BURSAR_WEBHOOK_SECRET'), Bursar\Webhook::headers($_SERVER), $body);
} catch (Bursar\WebhookError $refused) {
    error_log('refused: ' . $refused->getMessage());
    http_response_code(400);
    return;
}
take($event);
http_response_code(204);
