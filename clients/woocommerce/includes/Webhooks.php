<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Bursar\Webhook;
use Bursar\WebhookError;
use Throwable;

/** Receives the service's webhooks. */
final class Webhooks
{
    public const MAX_BODY = 1 << 20;

    /** @var Settings */
    private $settings;

    public function __construct(Settings $settings)
    {
        $this->settings = $settings;
    }

    /**
     * Verifies a webhook, brings its order up to date, and returns the status of the answer. An event that could not be
     * processed is answered with 503, so that it comes again.
     *
     * @param array<string, mixed> $server
     */
    public function receive(array $server, string $body, ?int $now = null): int
    {
        try {
            $secret = $this->settings->get('webhook_secret');
            $event = Webhook::verify($secret, Webhook::headers($server), $body, $now);
        } catch (WebhookError $refused) {
            wc_get_logger()->warning('A webhook was refused: ' . $refused->getMessage(), ['source' => Gateway::ID]);
            return 400;
        }
        $charge = $event['charge'] ?? null;
        if (($event['type'] ?? '') !== 'charge' || !is_array($charge) || ($charge['rule'] ?? '') !== 'sum') {
            return 204; // such as a test, or a deposit to a wallet of the same account
        }
        $number = Charges::number($charge);
        if ($number === 0) {
            return 204; // of another system with the same account
        }
        try {
            Lock::around($number, static function () use ($charge): void {
                $order = Charges::order($charge); // read behind the lock
                if ($order !== null) {
                    States::apply($order, $charge);
                    return;
                }
                wc_get_logger()->warning(
                    'Charge ' . ($charge['chargeID'] ?? '') . ' names an order that the shop does not have: see what was paid.',
                    ['source' => Gateway::ID]
                );
            });
        } catch (Throwable $failed) {
            wc_get_logger()->error('A webhook was not processed: ' . $failed->getMessage(), ['source' => Gateway::ID]);
            return 503;
        }
        return 204;
    }
}
