<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Bursar\BursarError;
use RuntimeException;
use WC_Order;

/** Refunds payments to the address that their payer names on the page of the charge. */
final class Refunds
{
    /** Metadata of the order: a refund that was asked for and whose outcome is not known, as JSON. */
    public const PENDING = '_bursar_refund';

    /** Refusals that come before the service looks whether the refund is there: an earlier attempt may have made it. */
    private const UNDECIDED = ['rate_limited', 'unauthorized', 'forbidden', 'secret_required', 'invalid_secret'];

    /** States of a withdrawal that has paid nothing and never will. */
    private const UNPAID = ['rejected', 'cancelled', 'failed'];

    /** @var Settings */
    private $settings;

    public function __construct(Settings $settings)
    {
        $this->settings = $settings;
    }

    /**
     * Refunds an amount in the order's currency at the rate at which the payment counted, and returns the withdrawal's
     * ID. What was asked for is stored first: the same refund asked for again is made once. Whoever calls holds the
     * order's lock.
     */
    public function refund(WC_Order $order, string $amount): string
    {
        $client = $this->settings->client();
        $order->read_meta_data(true); // what another process has written since the order was loaded
        $charge = $client->getCharge(['chargeID' => (string) $order->get_transaction_id()]);
        $asked = json_decode((string) $order->get_meta(self::PENDING), true);
        if (is_array($asked)) {
            $made = $this->earlier($order, $charge, $asked, $amount);
            if ($made !== '') {
                return $made;
            }
        } else {
            $asked = $this->ask($order, $charge, $amount);
        }
        try {
            $withdrawal = $client->refundCharge($asked['values'], ['idempotencyKey' => $asked['key']])['withdrawal'];
        } catch (BursarError $refused) {
            $decided = $refused->errorCode !== '' && !in_array($refused->errorCode, self::UNDECIDED, true);
            if ($refused->status < 500 && $decided) {
                $this->forget($order); // nothing was made
            }
            throw $refused;
        }
        $this->forget($order);
        return $withdrawal['withdrawalID'];
    }

    /**
     * Returns the withdrawal of a refund that was asked for before and whose answer was lost, '' if there is none and
     * it is to be asked for again.
     *
     * @param array<string, mixed> $charge
     * @param array<string, mixed> $asked
     */
    private function earlier(WC_Order $order, array $charge, array $asked, string $amount): string
    {
        $made = self::made($charge, $asked);
        $id = $made['withdrawalID'] ?? '';
        if ($made !== null) {
            $this->forget($order);
        }
        if ($made !== null && in_array($made['status'], self::UNPAID, true)) {
            throw new RuntimeException("the refund before this one, withdrawal $id, is $made[status]: ask again");
        }
        if (Decimal::compare($asked['amount'], $amount) !== 0) {
            throw new RuntimeException(
                $made === null ? "whether $asked[amount] were refunded is not known: ask for that refund again"
                    : "$asked[amount] were refunded before, by withdrawal $id: record that first"
            );
        }
        return $id;
    }

    /**
     * Chooses the payment and the address, and stores what is going to be asked for.
     *
     * @param array<string, mixed> $charge
     * @return array<string, mixed>
     */
    private function ask(WC_Order $order, array $charge, string $amount): array
    {
        [$payment, $coins] = self::payment($charge, $amount);
        $asked = [
            'amount' => $amount,
            'key' => 'wc-refund-' . bin2hex(random_bytes(16)),
            'known' => array_column($charge['refunds'], 'withdrawalID'),
            'values' => [
                'chargeID' => $charge['chargeID'],
                'depositID' => $payment['depositID'],
                'address' => self::address($charge, $payment['currency']),
                'amount' => $coins,
            ],
        ];
        $order->update_meta_data(self::PENDING, wp_json_encode($asked));
        $order->save();
        return $asked;
    }

    /**
     * Returns a payment that is worth as much, and how much of it in its currency: rounded up to its smallest unit, as
     * the price was when it was asked for, and never more than can be refunded.
     *
     * @param array<string, mixed> $charge
     * @return array{array<string, mixed>, string}
     */
    private static function payment(array $charge, string $amount): array
    {
        foreach ($charge['payments'] as $payment) {
            if ($payment['rate'] === null || Decimal::compare($payment['refundable'], '0') === 0) {
                continue;
            }
            $places = Decimal::places($payment['refundable']);
            if (Decimal::compare(Decimal::divide($amount, $payment['rate'], $places), $payment['refundable']) > 0) {
                continue;
            }
            $coins = Decimal::divide($amount, $payment['rate'], $places, true);
            $most = Decimal::compare($coins, $payment['refundable']) > 0 ? $payment['refundable'] : $coins;
            if (Decimal::compare($most, '0') > 0) {
                return [$payment, $most];
            }
        }
        throw new RuntimeException('no single payment of the order covers that much: refund less at a time');
    }

    /**
     * Returns the address that the payer named. One that took the place of another may be an outsider's.
     *
     * @param array<string, mixed> $charge
     */
    private static function address(array $charge, string $currency): string
    {
        foreach ($charge['refundAddresses'] as $named) {
            if ($named['currency'] !== $currency) {
                continue;
            }
            if ($named['named'] > 1) {
                throw new RuntimeException(
                    "the address for refunds in $currency was changed: ask the payer, and refund by POST charge/refund"
                );
            }
            return $named['address'] . ($named['tag'] === null ? '' : ":$named[tag]");
        }
        throw new RuntimeException(
            "the payer has named no address for refunds in $currency: send them to the page of the payment"
        );
    }

    /**
     * Returns what a refund became whose answer was lost, null if there is nothing.
     *
     * @param array<string, mixed> $charge
     * @param array<string, mixed> $asked
     * @return array<string, mixed>|null
     */
    private static function made(array $charge, array $asked): ?array
    {
        foreach ($charge['refunds'] as $refund) {
            if ($refund['depositID'] === $asked['values']['depositID']
                && Decimal::compare($refund['amount'], $asked['values']['amount']) === 0
                && !in_array($refund['withdrawalID'], $asked['known'], true)) {
                return $refund;
            }
        }
        return null;
    }

    private function forget(WC_Order $order): void
    {
        $order->delete_meta_data(self::PENDING);
        $order->save();
    }
}
