"""Reports: findings, memory plans and advice, printed in a format. No report knows a rule or a format of launch files."""
