<?php

declare(strict_types=1);

namespace Bursar;

use RuntimeException;

/** The webhook must not be trusted. */
final class WebhookError extends RuntimeException
{
    /** @var string secret, headers, timestamp, signature or body */
    public $why;

    public function __construct(string $why, string $message)
    {
        $this->why = $why;
        parent::__construct($message);
    }
}
